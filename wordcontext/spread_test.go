package wordcontext

import (
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	corpus := testCorpus(41, 9, 60, 10)
	m := build(t, corpus, Options{Window: 2, Contexts: 64, Passes: 1})
	if s := m.Spread(); s != (Spread{1, 1, 1}) {
		t.Errorf("without tempering %+v", s)
	}
	m = build(t, corpus, Options{Window: 2, Contexts: 64, Passes: 1, Tempering: 1, Positives: 3, MaxPositives: 8})
	s := m.Spread()
	if math.Abs(s.Mean-3) > 0.05 || s.Least <= 0 || s.Least >= s.Mean || s.Most <= s.Mean || s.Most > 8 {
		t.Errorf("%+v", s)
	}
	if s := new(Matrix).Spread(); s != (Spread{}) {
		t.Errorf("without words %+v", s)
	}
}
