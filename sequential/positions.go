package sequential

import (
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// PositionCBOW is CBOW with position weights (Mikolov et al. 2018, section 2.2): a
// trained vector for each place of the window multiplies the context word there,
// value by value, before the mean.
const PositionCBOW Model = "cbow-positions"

// positionCBOW trains D, (2W, N), beside the tables: a row for each place of the
// window, from left to right. D starts as ones, which is CBOW.
//
//	for each word t of the sentence, with m context words c at places p:
//		draw negatives n_1 ... n_K
//		h = 1/m Σ D_p ⊙ W_c
//		e = Σ rate (y_o - σ(h·C_o)) C_o
//		C_o += rate (y_o - σ(h·C_o)) h
//		W_c += D_p ⊙ e                           for every c
//		D_p += 1/m W_c ⊙ e                       for every p
//
// All sums take the rows as they were before the window. As in CBOW, a context word
// takes the whole step, not 1/m of it; D, which every window trains, takes the
// gradient as it is.
//
// Threads train copies of D and add up their changes at the end of a sentence, for
// all want all of it all the time.
type positionCBOW struct {
	*model
	kinds, inputs         []uint32
	mean, step            []float32 // N
	shared, own, previous []float32 // (2W, N): D; this thread's, and as it was taken over; the same as D with one thread
	scratch               []float32 // (m, N): D_p ⊙ e
}

func newPositionCBOW(m *model) *positionCBOW {
	m.drawAtMost(m.Negatives)
	b := &positionCBOW{
		model: m, kinds: firstPositive(1, 1+m.Negatives), mean: make([]float32, m.Dim), step: make([]float32, m.Dim),
		shared: m.positions, own: m.positions,
	}
	if m.Threads > 1 {
		b.own = make([]float32, len(b.shared))
		b.previous = make([]float32, len(b.shared))
	}
	return b
}

// newPositions returns the table D at the start of training; nil for models
// without one.
func newPositions(c *Options) []float32 {
	if c.Model != PositionCBOW {
		return nil
	}
	return slices.Repeat([]float32{1}, 2*c.Window*c.Dim)
}

func (b *positionCBOW) train(s *sentence) {
	if b.Threads > 1 {
		copy(b.own, b.shared)
		copy(b.previous, b.own)
		defer func() { simd.Exchange(b.shared, b.own, b.previous) }()
	}
	b.drawOutputs(s)
	for t := range s.words {
		b.fetchInput(s, t+ahead+b.Window)
		b.inputs = s.window(b.inputs[:0], t)
		if len(b.inputs) > 0 {
			left := min(int(s.widths[t]), t)
			b.trainWindow(b.own[(b.Window-left)*b.Dim:], b.outputsOf(t), b.kindsOf(t, b.kinds), b.outputsOf(t+ahead))
		}
	}
}

// trainWindow trains a window. positions are the rows of D from that of the first
// input on: the places of a window follow each other.
func (b *positionCBOW) trainWindow(positions []float32, outputs, kinds, next []uint32) {
	n, share := b.Dim, 1/float32(len(b.inputs))
	b.scratch = memory.Resize(b.scratch, len(b.inputs)*n)
	clear(b.mean)
	for i, c := range b.inputs {
		row, d := b.words[int(c)*n:][:n], positions[i*n:][:n]
		for j, x := range row {
			b.mean[j] += share * d[j] * x
		}
	}
	row := []uint32{0} // the only one of b.mean
	coefficients := b.gradients(b.mean, row, b.contexts, outputs, kinds)
	simd.Combine(b.step, coefficients, b.contexts, outputs)
	b.workspace.Update(b.mean, row, b.contexts, outputs, coefficients, n, next)
	b.copies.used(outputs)
	for i, c := range b.inputs {
		row, d, scaled := b.words[int(c)*n:][:n], positions[i*n:][:n], b.scratch[i*n:][:n]
		for j, e := range b.step {
			scaled[j] = d[j] * e
			d[j] += share * row[j] * e
		}
	}
	for i, c := range b.inputs { // a word may be there twice
		simd.SGD(b.words[int(c)*n:][:n], b.scratch[i*n:][:n], 1, -1)
	}
}
