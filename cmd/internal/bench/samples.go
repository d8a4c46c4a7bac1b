package bench

import (
	"fmt"

	"github.com/w2vcl/w2vcl/wordcontext"
)

// Samples says which samples the words of a step have. The zero value is one of each
// word, with negatives of its own.
type Samples struct {
	Tempering    float64 `json:"tempering,omitempty"`
	Positives    float64 `json:"positives,omitempty"` // mean of a word in an iteration; 0: 1
	MaxPositives int     `json:"max_positives,omitempty"`
	Shared       int     `json:"shared_negatives,omitempty"` // H; 0: each word draws its own
}

func (s Samples) String() string {
	if s == (Samples{}) {
		return ""
	}
	return fmt.Sprintf(", %v samples (tempering %v, at most %d, %d shared negatives)", max(s.Positives, 1), s.Tempering, s.MaxPositives, s.Shared)
}

// slots returns about how many slots a step has on so many words.
func (s Samples) slots(words int) int {
	var o wordcontext.Options
	s.set(&o)
	return wordcontext.EstimateSlots(words, o)
}

// set puts the choices of M into its options.
func (s Samples) set(o *wordcontext.Options) {
	o.Tempering, o.Positives, o.MaxPositives = s.Tempering, s.Positives, s.MaxPositives
}

// An amount is what a step trains on average over the iterations of an epoch.
type amount struct {
	rows    float64 // that have a sample
	samples float64 // of all rows
}

// amountOf returns the amount of a step on M.
func amountOf(m *wordcontext.Matrix) (a amount) {
	for i := range m.Rows() {
		n := float64(m.RowLength(i)) / float64(m.Contexts())
		a.rows += min(n, 1)
		a.samples += n
	}
	return a
}

// gathered returns how many rows of the frozen table a step meets. Those of shared
// negatives it reads once.
func (a amount) gathered(negatives, shared int) float64 {
	if shared > 0 {
		return a.samples + float64(shared)
	}
	return a.samples + a.rows*float64(negatives)
}
