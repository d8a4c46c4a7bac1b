package wordcount

import (
	"bytes"
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

// BenchmarkMerge merges the tables of many encoders, as on a machine with as
// many processors. Its time is the sum over all of them, if the machine
// has fewer.
func BenchmarkMerge(b *testing.B) {
	for _, threads := range []int{2, 16, 64} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			text := zipfText(1 << 20)
			for b.Loop() {
				b.StopTimer()
				encoders := make([]*encoder, threads)
				for i := range encoders {
					encoders[i] = newEncoder(Options{MaxToken: MaxTokenBytes}, nil)
					from := len(text) / 2 * i / threads
					part := append(slices.Clone(text[from:from+len(text)/2]), make([]byte, padding)...)
					encoders[i].encode(chunk{text: part[:len(part)-padding]})
				}
				stats := Stats{Tokens: 1}
				b.StartTimer()
				if _, _, _, err := mergeTables(context.Background(), encoders, Options{MinCount: 5, Threads: threads}, &stats); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// zipfText returns about size bytes of words with a natural distribution of
// frequencies and lengths.
func zipfText(size int) []byte {
	random := rand.New(rand.NewPCG(1, 1))
	rank := rand.NewZipf(random, 1.1, 8, 1<<18)
	var text bytes.Buffer
	for text.Len() < size {
		fmt.Fprintf(&text, "%x ", rank.Uint64()*2654435761>>12&0xfffffff>>random.IntN(2))
	}
	return text.Bytes()
}
