package team

import (
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

func BenchmarkDo(b *testing.B) {
	team := New(runtime.GOMAXPROCS(0))
	for b.Loop() {
		_ = team.Do(team.Threads(), func(int, int) {})
	}
}
