package wordcontext

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// Slots returns V+1 numbers: the samples of row i in an iteration are in
// slots[i]:slots[i+1] of all samples, whose number is S = slots[V]. A row has l_i/l
// slots, rounded up. The caller must not change the slice, nor use it after Close.
func (m *Matrix) Slots() []uint32 { return m.slots }

// Share returns which entries of row i a step of an iteration trains on: count
// entries from entry first on; entry 0 follows the last one. Iterations are counted
// over all epochs. step is 0 or 1.
func (m *Matrix) Share(i, iteration, step int) (first uint64, count int) {
	length := uint64(m.lengths[i])
	if length == 0 {
		return 0, 0
	}
	start, end := m.reads(i, iteration), m.reads(i, iteration+1)
	return (start + uint64(step)*(length/2)) % length, int(end - start)
}

// reads returns how many entries of row i a step trains on before an iteration, in
// all.
func (m *Matrix) reads(i, iteration int) uint64 {
	return (uint64(iteration)*uint64(m.lengths[i]) + uint64(m.phases[i])) / uint64(m.Contexts())
}

// Updates returns how many times a step has updated row i after an iteration. A row
// with fewer than l entries has an empty share in some iterations, which leaves it
// alone.
func (m *Matrix) Updates(i, iteration int) int {
	if m.RowLength(i) >= m.Contexts() {
		return iteration + 1
	}
	return int(m.reads(i, iteration+1))
}

// Samples copies the samples of a step of count iterations from first on to dst, of
// the rows row0 ... row1-1. dst has the shape (count, S), iteration by iteration:
//
//	for each iteration j, row i and k < slots[i+1]-slots[i]:
//		entry, n := Share(i, first + j, step)
//		dst[j·S + slots[i] + k] = At(i, (entry + k) mod l_i) if k < n, else NoSample
//
// Slots of other rows stay as they are, so several goroutines may fill one dst, each
// with its own rows. Samples panics if an iteration or the step is negative, or dst is
// too short.
//
// A sample costs less if count is large, since the memory of a row is then read once
// for all iterations. It costs more below 64 iterations, and no less above 256.
func (m *Matrix) Samples(step, first, count, row0, row1 int, dst []uint32) {
	if step < 0 || first < 0 || count < 0 {
		panic("wordcontext: a negative step or iteration")
	}
	if m.narrow != nil {
		copySamples(m, m.narrow, step, first, count, row0, row1, dst)
	} else {
		copySamples(m, m.wide, step, first, count, row0, row1, dst)
	}
}

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
