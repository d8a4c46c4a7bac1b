package parallel

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

func TestDo(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		for _, tasks := range []int{0, 1, 6, 7, 8, 1000} {
			done := make([]atomic.Int32, tasks)
			if err := Do(t.Context(), threads, tasks, func(task int) { done[task].Add(1) }); err != nil {
				t.Fatalf("%d tasks on %d threads: %v", tasks, threads, err)
			}
			for task := range done {
				if n := done[task].Load(); n != 1 {
					t.Fatalf("task %d of %d on %d threads was done %d times", task, tasks, threads, n)
				}
			}
		}
	}
}

func TestRanges(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11} {
		done := make([]int, n)
		Ranges(3, n, 5, func(first, end int) {
			for i := first; i < end; i++ {
				done[i]++
			}
		})
		if i := slices.IndexFunc(done, func(times int) bool { return times != 1 }); i >= 0 {
			t.Errorf("number %d of %d was taken %d times", i, n, done[i])
		}
	}
}

// No two goroutines have one number, so a count for each number needs no lock. The
// race detector confirms it.
func TestTryNumbersWorkers(t *testing.T) {
	const threads, tasks = 4, 10000
	counts := make([]int, threads)
	err := Try(t.Context(), threads, tasks, func(worker, _ int) error {
		counts[worker]++
		return nil
	})
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if err != nil || sum != tasks {
		t.Errorf("%d tasks done, want %d, error %v", sum, tasks, err)
	}
}

func TestTryStopsAtAnError(t *testing.T) {
	bad := errors.New("bad")
	var done atomic.Int64
	err := Try(t.Context(), 3, 1<<40, func(_, task int) error {
		done.Add(1)
		if task == 100 {
			return bad
		}
		return nil
	})
	if !errors.Is(err, bad) || done.Load() < 100 {
		t.Errorf("error %v after %d tasks", err, done.Load())
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Do(ctx, 3, 1<<40, func(task int) {
		if task == 100 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if err := Do(ctx, 3, 5, func(int) { t.Error("work in a cancelled context") }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
