package wordcontext

import (
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// TestRounds: in every round each stored context of a short row comes exactly
// once, in an order of its own; round 0 is the row as stored.
func TestRounds(t *testing.T) {
	c := testCorpus(11, 60, 4000, 40)
	m := build(t, c, Options{Window: 2, Contexts: 2000, Passes: 1, Seed: 3})
	short := 0
	for i := range m.Rows() {
		row := m.Row(i)
		n := len(row)
		previous := row
		for first := 0; first < m.Contexts(); first += n {
			var round []uint32
			for j := first; j < min(first+n, m.Contexts()); j++ {
				round = append(round, m.At(i, j))
			}
			whole := len(round) == n
			switch {
			case first == 0 && !slices.Equal(round, row):
				t.Fatalf("row %d starts with %v, stored is %v", i, round, row)
			case whole && !slices.Equal(sorted(round), sorted(row)):
				t.Fatalf("row %d, columns from %d: %v is not the row %v", i, first, round, row)
			case first > 0 && whole && n > 20 && slices.Equal(round, previous):
				t.Fatalf("row %d, columns from %d: the round before has the same order", i, first)
			}
			previous = round
		}
		if n < m.Contexts()/2 {
			short++
		}
	}
	if short < 10 {
		t.Errorf("only %d rows repeat: the test is too weak", short)
	}
}

// Rows of equal length, and rounds of a row, have orders that differ.
func TestRoundsDiffer(t *testing.T) {
	for _, n := range []uint32{50, 100} {
		seen := map[string][3]uint32{}
		for seed := range uint32(3) {
			for round := uint32(1); round < 20; round++ {
				for row := range uint32(20) {
					var o order
					o.set(uint64(seed), round, row, n)
					var key strings.Builder
					for _, x := range fillAll(&o, 50) {
						key.WriteByte(byte(x))
					}
					if other, ok := seen[key.String()]; ok {
						t.Fatalf("n %d: %v and %v have one order", n, other, [3]uint32{seed, round, row})
					}
					seen[key.String()] = [3]uint32{seed, round, row}
				}
			}
		}
	}
}

func TestColumnsEqualAt(t *testing.T) {
	long := Options{Window: 2, Contexts: 3000, Passes: 1, Seed: 5}
	for name, m := range map[string]*Matrix{
		"text":      build(t, testCorpus(12, 100, 5000, 30), long),
		"17 rows":   build(t, testCorpus(13, 17, 300, 10), long),
		"16 rows":   build(t, testCorpus(14, 16, 300, 10), Options{Window: 1, Contexts: 130, Passes: 1}),
		"1 row":     build(t, sentencesCorpus(1, []uint32{0, 0}), Options{Window: 1, Contexts: 70, Passes: 1}),
		"1 column":  build(t, testCorpus(15, 33, 300, 10), Options{Window: 1, Contexts: 1, Passes: 1}),
		"no row":    build(t, sentencesCorpus(3, []uint32{0}, []uint32{1, 2}), Options{Window: 1, Contexts: 70, Passes: 1}),
		"wide rows": build(t, testCorpus(16, 1<<16+5, 1<<18, 30), Options{Window: 2, Contexts: 130, Passes: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			rows, columns := m.Rows(), m.Contexts()
			for _, count := range []int{0, 1, 2, 63, 64, 65, 130} {
				for _, first := range []int{0, 1, 64, columns / 2, columns - count} {
					for _, r := range [][2]int{{0, rows}, {0, 1}, {rows / 2, rows}, {rows / 3, rows/3 + 5}, {7, 7}} {
						if first < 0 || first+count > columns || r[1] > rows || rows > 1000 && count != 2 {
							continue
						}
						checkColumns(t, m, first, count, r[0], r[1])
					}
				}
			}
		})
	}
}

func checkColumns(t *testing.T, m *Matrix, first, count, row0, row1 int) {
	t.Helper()
	const untouched = 0xDEADBEEF
	rows := m.Rows()
	dst := make([]uint32, count*rows+3)
	for k := range dst {
		dst[k] = untouched
	}
	m.Samples(0, first, count, row0, row1, dst)
	for k, got := range dst {
		want := uint32(untouched)
		if i, j := k%rows, k/rows; j < count && row0 <= i && i < row1 {
			want = m.At(i, first+j)
		}
		if got != want {
			t.Fatalf("Samples(0, %d, %d, %d, %d): entry (%d, %d) is %d, want %d",
				first, count, row0, row1, k%rows, first+k/rows, got, want)
		}
	}
}

func TestNoContext(t *testing.T) {
	m := build(t, sentencesCorpus(3, []uint32{0}, []uint32{1, 2}), Options{Window: 1, Contexts: 4, Passes: 1})
	for j := range 4 {
		if got := [3]uint32{m.At(0, j), m.At(1, j), m.At(2, j)}; got != [3]uint32{NoContext, 2, 1} {
			t.Errorf("column %d is %d", j, got)
		}
	}
	if len(m.Row(0)) != 0 || m.RowTotal(0) != 0 {
		t.Errorf("row 0 has contexts")
	}
}

func TestMatches(t *testing.T) {
	c := testCorpus(18, 20, 300, 10)
	o := Options{Window: 2, Contexts: 30, Passes: 2, Sample: 0.01, Seed: 4}
	m := build(t, c, o)
	for _, tc := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) {}, ""},
		{func(o *Options) { o.Threads, o.Progress = 9, func(int64, int64) {} }, ""},
		{func(o *Options) { o.Window = 3 }, "window 2, not 3"},
		{func(o *Options) { o.Contexts = 31 }, "contexts 30, not 31"},
		{func(o *Options) { o.Sample = 0.02 }, "sample 0.01, not 0.02"},
		{func(o *Options) { o.Passes = 3 }, "passes 2, not 3"},
		{func(o *Options) { o.DynamicWindow = true }, "dynamic windows false, not true"},
		{func(o *Options) { o.Seed = 5 }, "seed 4, not 5"},
	} {
		changed := o
		tc.change(&changed)
		err := m.Matches(c, changed)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
	other := &corpus.Corpus{Vocabulary: c.Vocabulary, Tokens: slices.Clone(c.Tokens), Sentences: c.Sentences}
	if err := m.Matches(other, o); err != nil {
		t.Errorf("an equal corpus: %v", err)
	}
	other = &corpus.Corpus{Vocabulary: c.Vocabulary, Tokens: slices.Clone(c.Tokens), Sentences: c.Sentences}
	slices.Reverse(other.Tokens)
	if err := m.Matches(other, o); err == nil || !strings.Contains(err.Error(), "another text") {
		t.Errorf("another corpus: %v", err)
	}
	if err := m.Matches(testCorpus(18, 21, 300, 10), o); err == nil || !strings.Contains(err.Error(), "it has 20 words, not 21") {
		t.Errorf("a larger vocabulary: %v", err)
	}
}

func TestUseAfterClose(t *testing.T) {
	m := build(t, testCorpus(19, 20, 300, 10), Options{Window: 2, Contexts: 30, Passes: 1})
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, use := range map[string]func(){
		"At":       func() { m.At(0, 0) },
		"Row":      func() { m.Row(0) },
		"RowTotal": func() { m.RowTotal(0) },
		"Stored":   func() { m.Stored() },
		"Samples":  func() { m.Samples(0, 0, 1, 0, 1, make([]uint32, 20)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s after Close did not panic", name)
				}
			}()
			use()
		}()
	}
	if err := m.Save(t.TempDir() + "/m"); err == nil || !strings.Contains(err.Error(), "was closed") {
		t.Errorf("Save after Close: %v", err)
	}
}
