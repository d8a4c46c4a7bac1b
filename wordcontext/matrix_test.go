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

func TestNoContext(t *testing.T) {
	m := build(t, sentencesCorpus(3, []uint32{0}, []uint32{1, 2}), Options{Window: 1, Contexts: 4, Passes: 1})
	for j := range 4 {
		if got := [3]uint32{m.At(0, j), m.At(1, j), m.At(2, j)}; got != [3]uint32{NoContext, 2, 1} {
			t.Errorf("column %d is %d", j, got)
		}
	}
	if len(m.Row(0)) != 0 || m.totals[0] != 0 {
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
		{func(o *Options) { o.Positives, o.MaxPositives = 1, 7 }, ""}, // nothing changes
		{func(o *Options) { o.Tempering = 0.5 }, "tempering 0, not 0.5"},
		{func(o *Options) { o.Positives = 2 }, "positives 1, not 2"},
		{func(o *Options) { o.Sample = 0.02 }, "sample 0.01, not 0.02"},
		{func(o *Options) { o.Passes = 3 }, "passes 2, not 3"},
		{func(o *Options) { o.DynamicWindow = true }, "dynamic windows false, not true"},
		{func(o *Options) { o.InOrder = true }, "rows in the order of the text false, not true"},
		{func(o *Options) { o.Seed = 5 }, "seed 4, not 5"},
	} {
		changed := o
		tc.change(&changed)
		err := m.Matches(c, changed)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
	o.Tempering, o.Positives = 0.5, 3
	capped := o
	capped.MaxPositives = 9
	if err := build(t, c, capped).Matches(c, o); err == nil || !strings.Contains(err.Error(), "a maximum of positives of 9, not 0") {
		t.Errorf("another maximum: %v", err)
	}
	o.Tempering, o.Positives = 0, 0
	other := &corpus.Corpus{Vocabulary: c.Vocabulary, Tokens: slices.Clone(c.Tokens), Sentences: c.Sentences}
	if err := m.Matches(other, o); err != nil {
		t.Errorf("an equal corpus: %v", err)
	}
	other = &corpus.Corpus{Vocabulary: c.Vocabulary, Tokens: slices.Clone(c.Tokens), Sentences: c.Sentences}
	slices.Reverse(other.Tokens)
	if err := m.Matches(other, o); err == nil || !strings.Contains(err.Error(), "another text") {
		t.Errorf("another corpus: %v", err)
	}
	o.Positives = 4 // follows from the text
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
		"At":      func() { m.At(0, 0) },
		"Row":     func() { m.Row(0) },
		"Stored":  func() { m.Stored() },
		"Samples": func() { m.Samples(0, 0, 1, 0, 1, make([]uint32, 20)) },
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
