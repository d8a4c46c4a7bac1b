package memory

import (
	"strings"
	"testing"
)

func TestGuardNamesWhatIsNeeded(t *testing.T) {
	g := Guard{Limit: 1e9, Asked: true}
	if err := g.Check("training", "less", Need{"tables", 6e8}, Need{"moments", 4e8}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	err := g.Check("training", "lower --dim", Need{"tables", 6e8}, Need{"nothing", 0}, Need{"moments", 5e8})
	want := "training needs about 1.10 GB of memory (tables 600 MB, moments 500 MB), but --max-memory allows 1 GB: lower --dim"
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
