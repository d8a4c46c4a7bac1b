package wordcontext

import (
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	corpus := testCorpus(41, 9, 60, 10)
	m := build(t, corpus, Options{Window: 2, Contexts: 64, Passes: 1})
	if s, want := m.Spread(), "9 rows of 64 contexts"; s != nil || m.String() != want {
		t.Errorf("without tempering %+v, %s; want none, %s", s, m, want)
	}
	m = build(t, corpus, Options{Window: 2, Contexts: 64, Passes: 1, Tempering: 1, Positives: 3, MaxPositives: 8})
	s := m.Spread()
	if s == nil || math.Abs(s.Mean-3) > 0.05 || s.Least <= 0 || s.Least >= s.Mean || s.Most <= s.Mean || s.Most > 8 {
		t.Errorf("%+v", s)
	}
	if got, want := (&Spread{3, 0.25, 100}).Shape(2000, 64), "2,000 rows of 16 to 6,400 contexts, 192 on average"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
