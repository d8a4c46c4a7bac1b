package cluster

import (
	"errors"
	"slices"
	"sync"
)

// ErrAborted is the error of calls after a rank aborted.
var ErrAborted = errors.New("a rank aborted")

// Local returns n ranks that are goroutines of this process. A call that does not fit
// those of the other ranks is an error.
func Local(n int) []Comm {
	all, comms := make([]*mesh, n), make([]Comm, n)
	for r := range all {
		all[r] = newMesh(r, n)
		all[r].tell = func(why error) {
			for _, other := range all {
				other.stop(why)
			}
		}
		for from := range n {
			all[r].links[from] = &link{frames: make(chan frame, framesAhead)}
		}
		comms[r] = local{all[r]}
	}
	for r, m := range all {
		for to, l := range m.links {
			l.send = func(f frame) error {
				f.data = slices.Clone(f.data)
				select {
				case all[to].links[r].frames <- f:
					return nil
				case <-m.ended:
					return m.why
				}
			}
		}
	}
	return comms
}

type local struct{ *mesh }

func (c local) Abort(int) { c.end(ErrAborted) }

// Run calls work for each of n local ranks at the same time and returns the first error,
// in the order of the ranks, that says more than [ErrAborted]. A rank that returns an error
// aborts the others.
func Run(n int, work func(c Comm) error) error {
	errs := make([]error, n)
	var working sync.WaitGroup
	for r, c := range Local(n) {
		working.Go(func() {
			if errs[r] = work(c); errs[r] != nil {
				c.Abort(1)
			}
		})
	}
	working.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, ErrAborted) {
			return err
		}
	}
	return errors.Join(errs...)
}
