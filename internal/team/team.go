// Package team runs many short loops, one after the other, on the same threads.
// Start at [Team]. For longer tasks, package parallel is simpler.
package team

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// A Team runs loops in parallel, one after the other. Between two loops its
// goroutines stay awake for a moment: a training step takes a millisecond or
// less, and waking a sleeping thread costs much of that (measured: 0.1 ms with a
// free processor, up to 1 ms without). The goroutines end when no loop comes, so
// nobody need close a Team. Loops of one Team must not run at the same time.
type Team struct {
	threads int
	linger  time.Duration
	members []member // member 0 is the caller of Do

	// The current loop, set before its members start.
	work   func(worker, i int)
	ranges int          // ranges of the loop, one for each member that takes part
	left   atomic.Int32 // members still at work, without the caller; asleep is added while that sleeps
	done   chan struct{}
	failed atomic.Pointer[error]
	until  context.Context // of the loops
}

// asleep in left says that the caller of Do sleeps until the last member is done.
const asleep = 1 << 30

// A member is one goroutine of a Team. Its range of a loop is from next up to end.
type member struct {
	state atomic.Int32
	next  atomic.Int64
	end   int64
	_     [104]byte // keeps members out of each other's cache lines
}

// The states of a member.
const (
	gone    = iota // has no goroutine
	waiting        // waits for the next loop
	working        // works on a loop
)

// lingering is the time that members stay awake: longer than the pause between two
// training steps, too short to be noticed.
const lingering = 500 * time.Microsecond

// patience is the time that the caller of Do stays awake for the last member: longer
// than its last piece of work takes. If it takes more, the member has lost its
// processor to another process. Then sleep leaves the caller's own processor to others,
// who give it back when the member goes on; awake, the caller would use up its range of
// time for nothing.
const patience = 100 * time.Microsecond

// New returns a team of the given number of threads, at least 1.
func New(threads int) *Team {
	t := &Team{threads: max(threads, 1), linger: lingering, done: make(chan struct{}, 1), until: context.Background()}
	if t.threads > runtime.GOMAXPROCS(0) {
		t.linger = 0 // a waiting member would keep a working one from its processor
	}
	t.members = make([]member, t.threads)
	return t
}

// Threads returns the number of threads.
func (t *Team) Threads() int { return t.threads }

// Until makes loops end with the error of a context, when that ends, until forget is called.
func (t *Team) Until(ctx context.Context) (forget func()) {
	t.until = ctx
	return func() { t.until = context.Background() }
}

// Do calls work(worker, i) for every i in [0, n). Each member has a range of its own,
// the same in every loop of the same n, so that its cache still holds the data of
// its range. A member that has finished its range helps with the others. worker,
// below Threads, is the number of the member. A panic in work ends the loop; Do
// returns it as an error.
func (t *Team) Do(n int, work func(worker, i int)) error {
	t.work, t.ranges = work, min(t.threads, n)
	t.failed.Store(nil)
	t.left.Store(int32(max(t.ranges-1, 0)))
	for m := range t.ranges {
		t.members[m].next.Store(int64(m * n / t.ranges))
		t.members[m].end = int64((m + 1) * n / t.ranges)
	}
	for m := 1; m < t.ranges; m++ {
		if !t.members[m].state.CompareAndSwap(waiting, working) {
			t.members[m].state.Store(working)
			go t.member(m)
		}
	}
	t.run(0)
	t.join()
	t.work = nil
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Each is Do for work that is too short to be handed out one by one: a member takes so many together. As in Do, the
// result is the same for any number of threads if work on i changes what belongs to i alone, or to the worker's scratch memory.
func (t *Team) Each(n, together int, work func(worker, i int)) error {
	return t.Do((n+together-1)/together, func(worker, b int) {
		for i := b * together; i < min((b+1)*together, n); i++ {
			work(worker, i)
		}
	})
}

// join waits for the last member to finish the loop.
func (t *Team) join() {
	start := time.Now()
	for spins := 1; t.left.Load() > 0; spins++ {
		pause(spins)
		if spins%64 == 0 && time.Since(start) >= patience {
			if t.left.Add(asleep) > asleep {
				<-t.done
			}
			return
		}
	}
}

// member is the goroutine of member m: it runs loops until none comes for a while.
func (t *Team) member(m int) {
	state := &t.members[m].state
	for {
		t.run(m)
		state.Store(waiting) // before the loop can end, so that the next one finds it
		if t.left.Add(-1) == asleep {
			t.done <- struct{}{}
		}
		if !t.await(state) {
			return
		}
	}
}

// await waits for the next loop. It returns false if none comes and the member ends.
func (t *Team) await(state *atomic.Int32) bool {
	start := time.Now()
	for spins := 1; state.Load() == waiting; spins++ {
		pause(spins)
		if spins%64 == 0 && time.Since(start) >= t.linger {
			return !state.CompareAndSwap(waiting, gone)
		}
	}
	return true
}

// pause lets other goroutines run now and then.
func pause(spins int) {
	if spins%32 == 31 {
		runtime.Gosched()
	}
}

// run works on the current loop: on the member's own range first, then on the others.
func (t *Team) run(worker int) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("panic: %v", p)
			t.failed.CompareAndSwap(nil, &err)
		}
	}()
	for k := range t.ranges {
		other := &t.members[(worker+k)%t.ranges]
		for t.failed.Load() == nil {
			i := other.next.Add(1) - 1
			if i >= other.end {
				break
			}
			if err := t.until.Err(); err != nil {
				t.failed.CompareAndSwap(nil, &err)
				break
			}
			t.work(worker, int(i))
		}
	}
}
