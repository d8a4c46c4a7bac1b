package memory

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
)

// TestFloatsTakeTheirSize: tables take what SizeOf says, also in memory that was used before, which Go clears.
func TestFloatsTakeTheirSize(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // nothing else gives memory back
	const n, tables = 3<<19 + 1, 16
	want := tables * SizeOf(n)
	debug.FreeOSMemory()
	before := machine.Resident()
	for i, used := 0, make([]byte, want+tables*2*hugePage); i < len(used); i += 1 << 12 {
		used[i] = 1
	}
	runtime.GC()
	var all [tables][]float32
	for i := range all {
		all[i] = Floats(n)
		for k := range all[i] {
			all[i][k] = 1
		}
	}
	debug.FreeOSMemory()
	took := machine.Resident() - before
	if runtime.KeepAlive(&all); took < want/2 || took > want+want/20 {
		t.Errorf("%d tables of %d bytes took %d bytes, not %d", tables, SizeOf(n), took, want)
	}
}
