package graph

import (
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// PositionsTensor is the name of the position weights in State.
const PositionsTensor = "positions"

// PositionRate is the learning rate of position weights, relative to that of the tables. At .1 and at 1 scores are about .003 lower
// (benchmarks/recipes).
const PositionRate = 0.3

// position is the row of an offset in the table of weights. The offset 0 is the window's own word, which has none.
func (w *windows) position(offset int) uint32 {
	if offset > 0 {
		offset--
	}
	return uint32(w.stretch.Window + offset)
}

// blocks is in how many pieces the gradient of position weights is summed. It follows from the number of places alone, so that any number
// of threads gives the same bits.
func blocks(places int) int { return (places + placesTogether - 1) / placesTogether }

// trainPositions adds the nodes that move the weights along their gradient. The gradient of the weights of offset k is
//
//	1/P sum over the places p of 1/m_p e_p * X_w(p+k)
//
// by element, where m_p words are in the window of p, and X_w is the word's row. It returns the node that reads words; the weights
// move only after the node after, which still reads their old values.
func (w *windows) trainPositions(g *iteration, words, gradient, after *gorgonia.Node) *gorgonia.Node {
	sums := g.node("gradient of positions: sums by block of places", w.ofPositions, w.sumPositions, words, gradient)
	work := func(in []*tensor.Dense) error {
		w.positions.optimizer.Begin(g.step(), PositionRate*g.rate())
		return w.movePositions(in[1].Float32s())
	}
	g.node("update positions: "+string(w.positions.method), w.positions.dense, work, w.node, sums, g.clock, after)
	return sums
}

// sumPositions computes the gradient of each block of places, (2W, N).
func (w *windows) sumPositions(in []*tensor.Dense) error {
	words, gradients, sums := in[0].Float32s(), in[1].Float32s(), w.ofPositions.Float32s()
	x, n := w.stretch, w.positions.dim
	return w.team.Each(blocks(len(x.Words)), 1, func(worker, block int) {
		s := &w.scratch[worker]
		first := block * placesTogether
		end := min(first+placesTogether, len(x.Words))
		for offset := -x.Window; offset <= x.Window; offset++ {
			if offset == 0 {
				continue
			}
			s.positions, s.rows, s.weights = s.positions[:0], s.rows[:0], s.weights[:0]
			for p := first; p < end; p++ {
				if q := p + offset; int(x.From[p]) <= q && q < int(x.To[p]) {
					s.positions = append(s.positions, uint32(p))
					s.rows = append(s.rows, x.Words[q])
					s.weights = append(s.weights, 1/float32(x.To[p]-x.From[p]-1))
				}
			}
			row := block*w.positions.rows + int(w.position(offset))
			simd.CombineProducts(sums[row*n:][:n], s.weights, gradients, s.positions, words, s.rows)
		}
	})
}

// movePositions adds up the blocks in their order, and moves the weights.
func (w *windows) movePositions(sums []float32) error {
	d, places := w.positions, len(w.stretch.Words)
	return w.team.Each(d.rows, 1, func(worker, row int) {
		s := &w.scratch[worker]
		s.rows = s.rows[:0]
		for block := range blocks(places) {
			s.rows = append(s.rows, uint32(block*d.rows+row))
		}
		s.combine(s.gradient, 1/float32(places), sums, s.rows)
		d.move(row, 1, s.gradient)
	})
}
