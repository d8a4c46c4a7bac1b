package memory

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
)

func TestGuardNamesWhatIsNeeded(t *testing.T) {
	g := Guard{Limit: 1e9, Asked: true}
	if err := g.Check("training", "less", Need{"tables", 6e8}, Need{"moments", 4e8}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	err := g.Check("training", "lower --dim", Need{"tables", 6e8}, Need{"nothing", 0}, Need{"moments", 5e8})
	want := "training needs about 1.11 GB of memory (tables 600 MB, moments 500 MB), but --max-memory allows 1 GB: lower --dim"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	g.Asked = false
	if err := g.Check("training", "", Need{"tables", 2e9}); err == nil || !strings.Contains(err.Error(), "this machine has 1 GB available (--max-memory") {
		t.Errorf("got %v", err)
	}
	if err := (Guard{}).Check("training", "", Need{"tables", 1 << 60}); err != nil {
		t.Errorf("unknown limit: %v", err)
	}
}

// TestGuardLimitsGo: garbage is collected near the limit. A collection runs beside the program, which makes more garbage
// meanwhile: on a machine whose processors all have other work, 39 MB of 256 MB were seen.
func TestGuardLimitsGo(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	debug.FreeOSMemory() // of tests before this one
	const meanwhile = 128 << 20
	limit := machine.Resident() + 40<<20
	_, release := NewGuard(limit)
	defer release()
	most := int64(0)
	for range 4 << 10 {
		garbage = make([]byte, 64<<10)
		for i := 0; i < len(garbage); i += 1 << 10 {
			garbage[i] = 1
		}
		most = max(most, machine.Resident())
	}
	if garbage = nil; most > limit+meanwhile {
		t.Errorf("%d bytes were resident, of %d", most, limit)
	}
}

var garbage []byte // global, so that it is not on the stack
