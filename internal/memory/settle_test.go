package memory

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestCollect: garbage of a large heap goes back to the system, a small heap is left alone.
func TestCollect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // nothing else collects
	debug.FreeOSMemory()
	for _, c := range []struct {
		garbage   int
		collected bool
	}{{1 << 20, false}, {8 * littleHeap, true}} {
		var before, after runtime.MemStats
		garbage := make([]byte, c.garbage)
		for i := 0; i < len(garbage); i += 1 << 10 {
			garbage[i] = 1
		}
		runtime.KeepAlive(garbage)
		runtime.ReadMemStats(&before)
		Collect()
		runtime.ReadMemStats(&after)
		if after.NumGC > before.NumGC != c.collected {
			t.Errorf("%d bytes of garbage: %d collections", c.garbage, after.NumGC-before.NumGC)
		}
		if left := int64(after.HeapInuse + after.HeapIdle - after.HeapReleased); c.collected && left > littleHeap {
			t.Errorf("%d bytes are left of a heap of %d", left, c.garbage)
		}
	}
}

// TestSettle: garbage is bounded by what training will have, not by the little that it has when it begins.
func TestSettle(t *testing.T) {
	before := debug.SetGCPercent(-1)
	debug.SetGCPercent(before)
	const most = 400 << 20
	release := Settle(most)
	percent := debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	release()
	if want := int(100 * garbageOf(most) / most); percent != want {
		t.Errorf("collections begin at %d%% of garbage, want %d", percent, want)
	}
	if after := debug.SetGCPercent(before); after != before {
		t.Errorf("%d%% afterwards, %d before", after, before)
	}
}
