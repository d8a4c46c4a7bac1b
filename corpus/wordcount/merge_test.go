package wordcount

import (
	"fmt"
	"slices"
	"testing"
)

// TestSplit: every slot in use is in the one part that its hash value says.
func TestSplit(t *testing.T) {
	table := newTable(0)
	for i := range 1000 {
		word := fmt.Appendf(nil, "word%d", i)
		table.add(keyOf(word), word, 1)
	}
	for _, n := range []int{1, 2, 7, 2000} {
		seen := 0
		for i, slots := range table.split(n) {
			seen += len(slots)
			if !slices.IsSorted(slots) {
				t.Errorf("%d parts: the slots of part %d are out of order", n, i)
			}
			for _, slot := range slots {
				if s := table.slots[slot]; s.id == 0 || s.hash()%uint64(n) != uint64(i) {
					t.Errorf("%d parts: slot %d is in part %d", n, slot, i)
				}
			}
		}
		if seen != table.used {
			t.Errorf("%d parts have %d slots, want %d", n, seen, table.used)
		}
	}
}
