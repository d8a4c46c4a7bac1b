package cluster

import (
	"errors"
	"fmt"
	"sync"
)

// ErrAborted is the error of calls after a rank aborted.
var ErrAborted = errors.New("a rank aborted")

// Local returns n ranks that are goroutines of this process. A call that does not fit
// those of the other ranks is an error.
func Local(n int) []Comm {
	s := &meeting{ranks: make([]visit, n)}
	s.met = sync.NewCond(&s.mu)
	ranks := make([]Comm, n)
	for r := range ranks {
		ranks[r] = calls{&local{s, r}}
	}
	return ranks
}

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

type local struct {
	*meeting
	rank int
}

// A meeting is where ranks meet for a call.
type meeting struct {
	mu       sync.Mutex
	met      *sync.Cond
	ranks    []visit
	here     int
	turn     int // of calls that all ranks have come to, and of those that all have left
	aborted  bool
	mismatch error
}

// A visit is what a rank brings to a call.
type visit struct {
	call string
	send [][]byte // for each rank
}

func (c *local) Rank() int { return c.rank }
func (c *local) Size() int { return len(c.ranks) }

// meet brings a visit. When all ranks are there, the last one lets each serve itself from
// what all bring; then all leave together.
func (c *local) meet(v visit, serve func(all []visit) error) error {
	c.mu.Lock()
	c.ranks[c.rank] = v
	if err := c.wait(); err != nil {
		c.mu.Unlock()
		return err
	}
	c.mu.Unlock()
	err := c.fits(v)
	if err == nil {
		err = serve(c.ranks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.mismatch == nil {
		c.mismatch = fmt.Errorf("rank %d: %s: %w", c.rank, v.call, err)
	}
	if err := c.wait(); err != nil {
		return err
	}
	return c.mismatch
}

func (c *local) wait() error {
	turn := c.turn
	if c.here++; c.here == len(c.ranks) {
		c.here = 0
		c.turn++
		c.met.Broadcast()
	}
	for c.turn == turn && !c.aborted {
		c.met.Wait()
	}
	if c.turn == turn {
		return ErrAborted
	}
	return nil
}

func (c *local) fits(v visit) error {
	for r, other := range c.ranks {
		if other.call != v.call {
			return fmt.Errorf("at the same time, rank %d calls %s", r, other.call)
		}
	}
	return nil
}

// exchange waits for the other ranks, and takes what they bring for this one.
func (c *local) exchange(call string, send, recv [][]byte) error {
	return c.meet(visit{call: call, send: send}, func(all []visit) error {
		for r, v := range all {
			if err := copyPart(recv[r], v.send[c.rank]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *local) Abort(int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborted = true
	c.met.Broadcast()
}
