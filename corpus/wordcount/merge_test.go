package wordcount

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortedEntries: whatever the parts and threads, all entries come in order.
func TestSortedEntries(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range 300 {
		parts := make([]partition, 1+random.IntN(9))
		var want []entry
		for n := range random.IntN(1 << random.IntN(11)) {
			e := entry{word: fmt.Appendf(nil, "%x", random.Uint32()), count: uint64(random.IntN(5)), merged: uint32(n)}
			p := &parts[random.IntN(1+random.IntN(len(parts)))] // some are large, some empty
			p.kept, want = append(p.kept, e), append(want, e)
		}
		slices.SortFunc(want, compareEntries)
		threads := 1 + random.IntN(20)
		got, err := sortedEntries(context.Background(), parts, threads)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b entry) bool { return compareEntries(a, b) == 0 }) {
			t.Fatalf("%d entries in %d parts, %d threads: wrong order", len(want), len(parts), threads)
		}
	}
}

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
