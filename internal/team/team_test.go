package team

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestDo(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 3, 16} {
		team := New(threads)
		for _, n := range []int{0, 1, 2, 5, 1000} {
			for repeat := range 20 {
				seen := make([]atomic.Int32, n)
				busy := make([]atomic.Int32, team.Threads())
				err := team.Do(n, func(worker, i int) {
					if busy[worker].Add(1) != 1 {
						t.Errorf("two goroutines are worker %d", worker)
					}
					seen[i].Add(1)
					busy[worker].Add(-1)
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range seen {
					if got := seen[i].Load(); got != 1 {
						t.Fatalf("%d threads, n=%d: %d was done %d times", threads, n, i, got)
					}
				}
				if repeat%7 == 6 {
					time.Sleep(2 * lingering) // the members have ended
				}
			}
		}
	}
}

// TestUntil: a loop ends soon after a context, and the loops after forget are whole again.
func TestUntil(t *testing.T) {
	team := New(2)
	ctx, cancel := context.WithCancel(t.Context())
	forget := team.Until(ctx)
	var done atomic.Int32
	count := func(int, int) {
		if done.Add(1) == 10 {
			cancel()
		}
	}
	if err := team.Do(1000, count); !errors.Is(err, context.Canceled) || done.Load() > 12 {
		t.Errorf("%v after %d of 1000", err, done.Load())
	}
	forget()
	if done.Store(20); team.Do(1000, count) != nil || done.Load() != 1020 {
		t.Errorf("%d of 1000 after that", done.Load()-20)
	}
}

func TestPanicIsAnError(t *testing.T) {
	team := New(3)
	for range 5 {
		err := team.Do(100, func(_, i int) {
			if i == 17 {
				panic("seventeen")
			}
		})
		if err == nil || !strings.Contains(err.Error(), "seventeen") {
			t.Fatalf("error %v", err)
		}
		if err := team.Do(100, func(int, int) {}); err != nil {
			t.Fatalf("after a panic: %v", err)
		}
	}
}

// A team without work leaves no goroutines behind.
func TestMembersEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		if err := New(8).Do(100, func(int, int) { runtime.Gosched() }); err != nil {
			t.Fatal(err)
		}
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
		if wait > 10*time.Second {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(wait)
	}
}
