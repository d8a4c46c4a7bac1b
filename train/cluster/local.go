package cluster

import (
	"errors"
	"fmt"
	"slices"
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
		ranks[r] = &local{s, r}
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
	call    string
	send    []byte
	sent    []int // ends
	numbers []uint64
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
	if err == nil && serve != nil {
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

// Part returns the part of a rank of a buffer.
func Part(buffer []byte, ends []int, rank int) []byte {
	if rank == 0 {
		return buffer[:ends[0]]
	}
	return buffer[ends[rank-1]:ends[rank]]
}

func copyPart(to, from []byte) error {
	if len(to) != len(from) {
		return fmt.Errorf("%d bytes were sent and %d expected", len(from), len(to))
	}
	copy(to, from)
	return nil
}

func (c *local) AllGather(buffer []byte, ends []int) error {
	own := slices.Clone(Part(buffer, ends, c.rank))
	return c.meet(visit{call: "AllGather", send: own}, func(all []visit) error {
		for r, v := range all {
			if err := copyPart(Part(buffer, ends, r), v.send); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *local) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	return c.meet(visit{call: "AllToAll", send: send, sent: sendEnds}, func(all []visit) error {
		for r, v := range all {
			if err := copyPart(Part(recv, recvEnds, r), Part(v.send, v.sent, c.rank)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *local) AllReduce(numbers []uint64, op Op) error {
	return c.reduce(visit{call: fmt.Sprint("AllReduce ", op), numbers: slices.Clone(numbers)}, numbers, len(c.ranks), op)
}

func (c *local) Exscan(numbers []uint64) error {
	return c.reduce(visit{call: "Exscan", numbers: slices.Clone(numbers)}, numbers, c.rank, Sum)
}

// reduce joins the numbers of the first ranks.
func (c *local) reduce(v visit, numbers []uint64, ranks int, op Op) error {
	return c.meet(v, func(all []visit) error {
		clear(numbers)
		for _, other := range all[:ranks] {
			if len(other.numbers) != len(numbers) {
				return fmt.Errorf("%d numbers, not %d", len(other.numbers), len(numbers))
			}
			for i, x := range other.numbers {
				if op == Max {
					numbers[i] = max(numbers[i], x)
				} else {
					numbers[i] += x
				}
			}
		}
		return nil
	})
}

func (c *local) Bcast(data []byte, root int) error {
	return c.meet(visit{call: fmt.Sprint("Bcast from ", root), send: data}, func(all []visit) error {
		if c.rank == root {
			return nil
		}
		return copyPart(data, all[root].send)
	})
}

func (c *local) Barrier() error { return c.meet(visit{call: "Barrier"}, nil) }

func (c *local) Abort(int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborted = true
	c.met.Broadcast()
}
