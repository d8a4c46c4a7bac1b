package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/w2vcl/w2vcl/internal/machine"
)

// littleHeap is the size of a heap, with its garbage, that is not worth a collection.
const littleHeap = 8 << 20

// Collect gives garbage back to the system after work that leaves much of it. It does nothing
// where the heap is small: a collection wakes every thread, and a comparison has many small runs.
func Collect() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(heap)
	resident := uint64(0)
	for _, part := range heap {
		resident += part.Value.Uint64()
	}
	if resident > littleHeap {
		debug.FreeOSMemory()
	}
}

// Settle gives the garbage of the preparation back to the system, and bounds
// the garbage that training leaves lying about: Go would let it grow to the
// size of the tables, which are most of what is in use. There is little of it,
// and looking for it is cheap, because tables hold no pointers. The garbage may
// be a twentieth of the memory in use, but collecting need not be more frequent
// than every 2 MB, and not less than every 16, or every hundredth of much memory:
// Go counts in hundredths. bytes is what training will have in use, if it is known: some
// of it comes with the first step.
func Settle(bytes int64) (release func()) {
	Collect()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	inUse := max(int64(stats.HeapAlloc), bytes, 1)
	before := debug.SetGCPercent(int(min(100, max(1, 100*garbageOf(inUse)/inUse))))
	return func() { debug.SetGCPercent(before) }
}

// Resident collects all garbage and returns what the process then has resident, in bytes, without what Go has free
// to use again: [debug.FreeOSMemory] does not give all of that back.
func Resident() int64 {
	debug.FreeOSMemory()
	free := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(free)
	return max(machine.Resident()-int64(free[0].Value.Uint64()), 0)
}

// garbageOf is what Settle allows where so many bytes are in use.
func garbageOf(inUse int64) int64 { return max(2<<20, min(inUse/20, 16<<20), inUse/100) }
