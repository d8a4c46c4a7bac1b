package walk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Options of the walks. For the zero value of an option its default holds.
type Options struct {
	Walks  int     // from each node; default 10
	Length int     // of a walk, in nodes; default 80
	P      float64 // return parameter: below 1 walks go back more often; default 1
	Q      float64 // in-out parameter: below 1 walks lead farther away; default 1
	Seed   uint64

	Threads int // default: one for each processor

	// Progress, if not nil, learns how many of all walks are written. One goroutine
	// calls it.
	Progress func(written, total int)

	// Unreached, if not nil, learns from [Graph.Corpus] how many nodes are in no walk of two nodes or more.
	Unreached func(nodes int)
}

// The range of p and q. Steps multiply weights by their inverses.
const (
	MinParameter = 1e-6
	MaxParameter = 1e6
)

// The longest walk and the most walks from a node.
const (
	MaxLength = 1 << 24
	MaxWalks  = 1 << 24
)

// withDefaults fills in the defaults and checks the options.
func (o Options) withDefaults() (Options, error) {
	o.Walks = cmp.Or(o.Walks, 10)
	o.Length = cmp.Or(o.Length, 80)
	o.P = cmp.Or(o.P, 1)
	o.Q = cmp.Or(o.Q, 1)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o, o.Check()
}

// Check returns an error if an option, for which no default is taken, is out of its range. It begins with the option's name.
func (o Options) Check() error {
	switch {
	case o.Walks < 1 || o.Walks > MaxWalks:
		return fmt.Errorf("walks %d: must be from 1 to %d", o.Walks, MaxWalks)
	case o.Length < 1 || o.Length > MaxLength:
		return fmt.Errorf("length %d: must be from 1 to %d", o.Length, MaxLength)
	case !(o.P >= MinParameter && o.P <= MaxParameter):
		return fmt.Errorf("p %g: must be from %g to %g", o.P, MinParameter, MaxParameter)
	case !(o.Q >= MinParameter && o.Q <= MaxParameter):
		return fmt.Errorf("q %g: must be from %g to %g", o.Q, MinParameter, MaxParameter)
	case o.Threads < 0:
		return fmt.Errorf("threads %d: must be 0 or more", o.Threads)
	}
	return nil
}

// holdOutRound is the number of the round whose random numbers HoldOut draws. No walk
// has it.
const holdOutRound uint32 = math.MaxUint32

// walks prepares to walk.
func (g *Graph) walks(ctx context.Context, o *Options) (w *walks, err error) {
	if *o, err = o.withDefaults(); err != nil {
		return nil, fmt.Errorf("walk: %w", err)
	}
	if len(g.Names) == 0 {
		return nil, errors.New("walk: the graph has no nodes")
	}
	s, err := newStepper(ctx, g, o.P, o.Q, o.Threads)
	if err != nil {
		return nil, fmt.Errorf("walk: %w", err)
	}
	return &walks{stepper: s, length: o.Length, rounds: o.Walks, starters: len(g.Names), seed: o.Seed}, nil
}

// WriteWalks writes walks over the graph to w, one a line, with spaces between the
// nodes. In each of o.Walks rounds one walk begins at every node; the order of the nodes is random. A walk ends early at a node without neighbours.
//
// Errors: an option out of its range, a graph without nodes, errors of w, a cancelled
// context.
func (g *Graph) WriteWalks(ctx context.Context, w io.Writer, o Options) error {
	all, err := g.walks(ctx, &o)
	if err != nil {
		return err
	}
	const wave = 256 // texts of walks that are in memory until they are written
	texts, steppers := make([]bytes.Buffer, wave), make([]*lockstep, o.Threads)
	for first := 0; first < all.count(); first += wave * together {
		left := (min(wave*together, all.count()-first) + together - 1) / together
		err := parallel.Try(ctx, o.Threads, left, func(worker, k int) error {
			if steppers[worker] == nil {
				steppers[worker] = all.lockstep()
			}
			from := first + k*together
			texts[k].Reset()
			steppers[worker].write(&texts[k], from, min(from+together, all.count()))
			return nil
		})
		if err != nil {
			return err
		}
		for k := range left {
			if _, err := w.Write(texts[k].Bytes()); err != nil {
				return err
			}
		}
		if o.Progress != nil {
			o.Progress(min(first+wave*together, all.count()), all.count())
		}
	}
	return nil
}

// write appends the walks first ... end-1 to text, as lines.
func (l *lockstep) write(text *bytes.Buffer, first, end int) {
	l.walk(first, end)
	for b := range end - first {
		for n, node := range l.path(b) {
			if n > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(l.g.Names[node])
		}
		text.WriteByte('\n')
	}
}
