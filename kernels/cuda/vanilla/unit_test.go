package vanilla

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func randomMinibatch(r *rand.Rand, rows, negatives, positives int) (words, contexts []uint32) {
	for range positives {
		word := uint32(r.IntN(rows) * r.IntN(2)) // half of them are word 0
		for range 1 + negatives {
			words, contexts = append(words, word), append(contexts, uint32(r.IntN(rows)*r.IntN(2)))
		}
	}
	return words, contexts
}

// Every entry stands in one segment of its row on both sides, in order, and segments of a row
// follow one another.
func TestUnit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const rows, negatives = 50, 3
	c := Options{Rows: rows, Negatives: negatives, Batch: 300}
	u := NewUnit(rows, negatives, false)
	for _, composes := range []bool{false, true} { // a unit is used again
		u.Reset()
		u.composes = composes
		var all [][2][]uint32
		for _, positives := range []int{300, 1, 17, 300, 64} {
			words, contexts := randomMinibatch(r, rows, negatives, positives)
			u.Add(words, contexts)
			all = append(all, [2][]uint32{words, contexts})
		}
		if u.Minibatches() != len(all) {
			t.Fatalf("%d minibatches, want %d", u.Minibatches(), len(all))
		}
		for i, m := range u.minibatches {
			if m.segments > mostSegments(c) {
				t.Errorf("minibatch %d has %d segments, more than %d", i, m.segments, mostSegments(c))
			}
			checkMinibatch(t, u, i, all[i])
		}
	}
}

func checkMinibatch(t *testing.T, u *Unit, i int, entries [2][]uint32) {
	t.Helper()
	lefts, contexts := u.Minibatch(i)
	for e, word := range entries[0] {
		if lefts[e/u.width] != word {
			t.Fatalf("minibatch %d: left word %d is %d, want %d", i, e/u.width, lefts[e/u.width], word)
		}
	}
	if !slices.Equal(contexts, entries[1]) {
		t.Fatalf("minibatch %d: other contexts", i)
	}
	m := u.minibatches[i]
	list := u.entries[2*m.left*u.width:]
	segments := u.segments[m.segment:][:m.segments]
	for table, parts := range [][]segment{segments[:m.segmentsOfWords], segments[m.segmentsOfWords:]} {
		got := map[uint32][]uint32{}
		left := uint32(0) // segments to come of the row
		for n, s := range parts {
			count := s.count &^ ofContexts
			if (s.count&ofContexts != 0) != (table == 1) || count == 0 || count > SegmentEntries {
				t.Fatalf("minibatch %d, table %d: segment %+v", i, table, s)
			}
			switch {
			case left == 0 && s.parts > 0 && got[s.row] == nil:
				left = s.parts
			case left == 0 || s.parts > 0 || parts[n-1].row != s.row:
				t.Fatalf("minibatch %d, table %d: segment %+v after %+v", i, table, s, parts[n-1])
			}
			if at := m.segment + n; u.composes && table == 0 && u.words[m.word:][:m.words][u.slots[at]] != s.row {
				t.Fatalf("minibatch %d: segment %+v is of word %d", i, s, u.slots[at])
			}
			left--
			got[s.row] = append(got[s.row], list[s.first:][:count]...)
		}
		want := map[uint32][]uint32{}
		for e, row := range entries[table] {
			want[row] = append(want[row], uint32(e))
		}
		if len(got) != len(want) || left != 0 {
			t.Fatalf("minibatch %d, table %d: %d rows, want %d; %d segments are missing", i, table, len(got), len(want), left)
		}
		for row := range want {
			if !slices.Equal(got[row], want[row]) {
				t.Fatalf("minibatch %d, table %d, row %d: entries %v, want %v", i, table, row, got[row], want[row])
			}
		}
	}
}
