package graph

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// PositionsTensor is the name of the position weights in State.
const PositionsTensor = "positions"

// PositionRate is the learning rate of position weights, relative to that of the tables. At .1 and at 1 scores are about .003 lower
// (benchmarks/recipes).
const PositionRate = 0.3

// blocks is in how many pieces the gradient of position weights is summed. It follows from the number of places alone, so that any number
// of threads gives the same bits.
func blocks(places int) int { return (places + placesTogether - 1) / placesTogether }

// trainPositions adds the node that moves the weights along their gradient, after the given node. The gradient of the weights of offset k is
//
//	1/P sum over the places p of 1/m_p e_p * X_w(p+k)
//
// by element, where m_p words are in the window of p, and X_w is the word's row.
func (w *windows) trainPositions(g *iteration, after *gorgonia.Node) {
	work := func([]*tensor.Dense) error {
		w.positions.optimizer.Begin(g.step(), PositionRate*g.rate())
		return w.movePositions()
	}
	g.node("update positions: "+string(w.positions.method), w.positions.dense, work, w.node, g.clock, after)
}

// A positionBlock has a block of places, and copies of what is summed over them, which stay in the cache of a worker.
type positionBlock struct {
	first, end int // the places
	from, to   int // those in their windows
	sums       []simd.ProductSum
	weights    []float32 // 1/m_p of each place

	positions, words, gradients simd.Panels
}

// eachBlock calls work for each block of places.
func (w *windows) eachBlock(work func(b *positionBlock, number int)) error {
	x := w.stretch
	return w.team.Do(blocks(len(x.Words)), func(worker, number int) {
		b := &w.scratch[worker].block
		b.first = number * placesTogether
		b.end = min(b.first+placesTogether, len(x.Words))
		b.from, b.to = int(x.From[b.first]), int(x.To[b.end-1])
		b.weights = b.weights[:0]
		for p := b.first; p < b.end; p++ {
			b.weights = append(b.weights, 1/float32(x.To[p]-x.From[p]-1))
		}
		work(b, number)
	})
}

// ofWindows lists the sum over the window of each place. The sum includes the place itself, whose position weights are zero.
func (b *positionBlock) ofWindows(x *wordcontext.Stretch) {
	b.sums = memory.Resize(b.sums, b.end-b.first)
	for i := range b.sums {
		p := uint32(b.first + i)
		from := x.From[p]
		b.sums[i] = simd.ProductSum{Out: p, Weight: uint32(i), A: uint32(x.Window) + from - p, B: from - uint32(b.from), Rows: x.To[p] - from}
	}
}

// ofOffsets lists the sums over all places that have a word at an offset: one for each offset in a window, which goes to the row of
// that offset, and for each sentence, whose places follow each other. row is that of the first offset.
func (b *positionBlock) ofOffsets(x *wordcontext.Stretch, row int) {
	b.sums = b.sums[:0]
	for first := b.first; first < b.end; {
		end := first + 1
		for end < b.end && int(x.From[end]) < end {
			end++
		}
		for i := range 2 * x.Window {
			offset := i - x.Window
			if offset >= 0 {
				offset++
			}
			from, to := max(first, int(x.From[first])-offset), min(end, int(x.To[end-1])-offset)
			if from < to {
				b.sums = append(b.sums, simd.ProductSum{
					Out: uint32(row + i), Weight: uint32(from - b.first), Step: 1,
					A: uint32(from - b.from), B: uint32(from + offset - b.from), Rows: uint32(to - from), Add: 1,
				})
			}
		}
		first = end
	}
}

// weighted computes the means of windows.
func (w *windows) weighted(in []*tensor.Dense) error {
	words, means := in[0].Float32s(), w.means.Float32s()
	x, n := w.stretch, w.positions.dim
	return w.eachBlock(func(b *positionBlock, _ int) {
		b.positions.Gather(w.positions.data, n, w.forwards)
		b.positions.Clear(x.Window)
		b.words.Gather(words, n, x.Words[b.from:b.to])
		b.ofWindows(x)
		simd.SumProducts(means, n, b.sums, b.weights, &b.positions, &b.words)
	})
}

// weightedBack sums the gradients of all windows that contain a place, for each place. Windows are equally wide, so those are the windows
// of the places within its own. It also computes the gradient of the position weights in each block, (2W, N).
func (w *windows) weightedBack(in []*tensor.Dense) error {
	sums, gradients, words := in[0].Float32s(), in[1].Float32s(), in[2].Float32s()
	x, n := w.stretch, w.positions.dim
	return w.eachBlock(func(b *positionBlock, number int) {
		b.positions.Gather(w.positions.data, n, w.backwards)
		b.positions.Clear(x.Window)
		b.gradients.Gather(gradients[b.from*n:], n, w.around[:b.to-b.from])
		b.words.Gather(words, n, x.Words[b.from:b.to])
		for p := b.first; p < b.end; p++ {
			w.inside[p] = float32(x.To[p] - x.From[p] - 1)
		}
		b.ofWindows(x)
		simd.SumProducts(sums, n, b.sums, w.ones, &b.positions, &b.gradients)

		row := number * w.positions.rows
		clear(w.ofPositions[row*n:][:w.positions.rows*n])
		b.ofOffsets(x, row)
		simd.SumProducts(w.ofPositions, n, b.sums, b.weights, &b.gradients, &b.words)
	})
}

// movePositions adds up the blocks in their order, and moves the weights.
func (w *windows) movePositions() error {
	d, places := w.positions, len(w.stretch.Words)
	return w.team.Each(d.rows, 1, func(worker, row int) {
		s := &w.scratch[worker]
		s.rows = s.rows[:0]
		for block := range blocks(places) {
			s.rows = append(s.rows, uint32(block*d.rows+row))
		}
		s.combine(s.gradient, 1/float32(places), w.ofPositions, s.rows)
		d.move(row, 1, s.gradient)
	})
}
