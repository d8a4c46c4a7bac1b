package wordcontext

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Spread says how many samples words have in an iteration, on average over the
// iterations. The nil Spread is one sample of every word.
type Spread struct {
	Mean  float64 `json:"mean"`  // over the words that have contexts
	Least float64 `json:"least"` // that one of them has
	Most  float64 `json:"most"`
}

// Spread returns the samples of the words with contexts, l_i/l; nil if M is not
// tempered.
func (m *Matrix) Spread() *Spread {
	if !m.Tempered() {
		return nil
	}
	s, words := Spread{Least: math.Inf(1)}, 0
	for i, length := range m.lengths {
		if m.totals[i] == 0 {
			continue
		}
		n := float64(length) / float64(m.Contexts())
		s.Mean, s.Least, s.Most, words = s.Mean+n, min(s.Least, n), max(s.Most, n), words+1
	}
	if words == 0 {
		return &Spread{}
	}
	s.Mean /= float64(words)
	return &s
}

// Shape describes a matrix of so many rows for epochs of l iterations to people.
func (s *Spread) Shape(rows, l int) string {
	if s == nil {
		return fmt.Sprintf("%s rows of %s contexts", terminal.Number(rows), terminal.Number(l))
	}
	length := func(samples float64) string { return terminal.Number(int64(math.Round(samples * float64(l)))) }
	return fmt.Sprintf("%s rows of %s to %s contexts, %s on average", terminal.Number(rows), length(s.Least), length(s.Most), length(s.Mean))
}

// String describes M to people.
func (m *Matrix) String() string { return m.Spread().Shape(m.Rows(), m.Contexts()) }
