package wordcontext

import "math"

// A Spread says how many samples words have in an iteration, on average over the
// iterations.
type Spread struct {
	Mean  float64 `json:"mean"`  // over the words that have contexts
	Least float64 `json:"least"` // that one of them has
	Most  float64 `json:"most"`
}

// Spread returns the samples of the words with contexts: l_i/l. Without such words
// it is zero.
func (m *Matrix) Spread() Spread {
	s, words := Spread{Least: math.Inf(1)}, 0
	for i, total := range m.totals {
		if total == 0 {
			continue
		}
		n := float64(m.lengths[i]) / float64(m.Contexts())
		s.Mean, s.Least, s.Most, words = s.Mean+n, min(s.Least, n), max(s.Most, n), words+1
	}
	if words == 0 {
		return Spread{}
	}
	s.Mean /= float64(words)
	return s
}
