package graph

import "github.com/w2vcl/w2vcl/wordcontext"

// ahead reads the stretches of iterations that follow one another, the next one beside training.
type ahead struct {
	reader  *wordcontext.StretchReader
	beside  bool
	current *wordcontext.Stretch
	next    *wordcontext.Stretch
	number  int           // of next, if it was asked for
	read    chan struct{} // closed when next is read; nil: nobody asked
}

// newAhead returns a reader that, with several threads, uses one of them beside training.
func newAhead(s *wordcontext.Stretches, threads int) *ahead {
	return &ahead{reader: s.Reader(), beside: threads > 1, current: &wordcontext.Stretch{}, next: &wordcontext.Stretch{}}
}

// stretch returns the stretch of an iteration of so many. It is good until the next call.
func (a *ahead) stretch(iteration, iterations int) *wordcontext.Stretch {
	asked := a.read != nil && a.number == iteration
	a.wait()
	if !asked {
		a.reader.Read(iteration, a.next)
	}
	a.current, a.next = a.next, a.current
	if a.beside && iteration+1 < iterations {
		a.number, a.read = iteration+1, make(chan struct{})
		go a.readNext(a.number, a.read)
	}
	return a.current
}

func (a *ahead) readNext(iteration int, read chan<- struct{}) {
	defer close(read)
	a.reader.Read(iteration, a.next)
}

// wait waits until nothing is read.
func (a *ahead) wait() {
	if a.read != nil {
		<-a.read
		a.read = nil
	}
}
