package graph

import (
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"golang.org/x/sys/cpu"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// windows computes the samples of large-batch CBOW, the means of the windows of a stretch of T places at most:
//
//	words: (V, N)  means: (T, N), row p the mean of the rows of the words in the window of place p
//
// With position weights, a row is first multiplied by the weight of its offset in the window, element by element, and so is what
// the word gets on the way back.
//
// The way back is not the derivative. Row p of the incoming gradient, e_p, is that of the mean of
// window p. It goes undivided to every place in the window, and a word moves along the mean of what its places get:
//
//	gradient: (V, N), row c the mean of e_p over all pairs of a place of word c and a window p that it is in
//
// If all windows had the same number of words, a row would be the derivative, divided by the number of these pairs
// and multiplied by the words of a window. So a row's gradient is as large as one sample's,
// however often its word occurs: frequent and rare words move equally far. Rows of words that do not occur
// are zero.
type windows struct {
	team    *team.Team
	stretch *wordcontext.Stretch // of the next run
	means   *tensor.Dense        // (T, N)
	moves   *tensor.Dense        // (V, N)
	moved   []uint32             // rows of moves that are not zero
	inside  []float32            // (T): how many windows a place is in, at least 1
	scratch []windowScratch      // of each worker

	positions   *table         // (2W, N), weights; nil: means are plain
	node        *gorgonia.Node // of positions
	ofPositions []float32      // (blocks(T) * 2W, N), their gradient in each block of places
	ones        []float32      // of a block of places
	around      []uint32       // 0, 1, ...: the most places in the windows of a block

	// (2W+1) each: the rows of positions in the order of a window's places, and in that of the windows that a place is in. Any row
	// stands for the place itself.
	forwards, backwards []uint32
}

// windowScratch lists the places or words of a window, and their coefficients.
type windowScratch struct {
	rows     []uint32
	equal    []float32 // of one weight
	weight   float32
	gradient []float32 // (N), of a position weight
	block    positionBlock
	_        cpu.CacheLinePad // without it, workers that write to one cache line cost a tenth of the time
}

// newWindows returns the operation for a vocabulary of so many words. A dry account gives it no memory.
func newWindows(words int, s *wordcontext.Stretches, workers *team.Team, positions *table, c Options) *windows {
	t := s.Capacity()
	means := c.Account.Floats(trainer.ForWork, t*c.Dim)
	moves := c.Account.Floats(trainer.ForWork, words*c.Dim)
	inside := trainer.Of[float32](c.Account, trainer.ForWork, t)
	rows := blocks(t) * c.Positions
	sums := c.Account.Floats(trainer.ForWork, rows*c.Dim)
	around := min(placesTogether+c.Positions, t)
	if positions != nil {
		bytes := simd.PanelBytes(c.Positions+1+2*around, c.Dim)
		c.Account.Take(trainer.ForWork, int64(workers.Threads())*bytes)
	}
	if means == nil || moves == nil || inside == nil || rows > 0 && sums == nil {
		return nil
	}
	w := &windows{
		team: workers, means: dense(means, t, c.Dim), moves: dense(moves, words, c.Dim), inside: inside,
		scratch: make([]windowScratch, workers.Threads()), positions: positions,
	}
	if positions != nil {
		w.ofPositions, w.ones, w.around = sums, slices.Repeat([]float32{1}, placesTogether), memory.Sequence[uint32](around)
		w.forwards = slices.Insert(memory.Sequence[uint32](positions.rows), positions.rows/2, 0)
		w.backwards = slices.Clone(w.forwards)
		slices.Reverse(w.backwards)
	}
	for i := range w.scratch {
		w.scratch[i].gradient = make([]float32, c.Dim)
	}
	return w
}

func (w *windows) forward(g *iteration, words *gorgonia.Node) *gorgonia.Node {
	if w.positions == nil {
		return g.node("windows: means of words", w.means, w.average, words)
	}
	w.node = g.input(w.positions.name, w.positions.dense)
	return g.node("windows: means of words, weighted by position", w.means, w.weighted, words, w.node)
}

// back adds the nodes of the gradient of words, from that of the means, and of the training of position weights. One node overwrites
// the means, after the given node; separate memory would cost 4% of the time.
func (w *windows) back(g *iteration, words, means, gradient, after *gorgonia.Node) (ofWords *gorgonia.Node) {
	const name = "sums of gradients by place; overwrites the means"
	var sums *gorgonia.Node
	if w.positions == nil {
		sums = g.node(name, w.means, w.sumBack, means, gradient, after)
	} else {
		sums = g.node(name, w.means, w.weightedBack, means, gradient, words, after)
		w.trainPositions(g, sums)
	}
	return g.node("gradient of words: means over their windows", w.moves, w.averageBack, sums)
}

// placesTogether is how many places a worker takes at a time: their rows and those around
// them stay in its cache.
const placesTogether = 256

// weigh returns so many equal coefficients. Most often they are those of the call before.
func (s *windowScratch) weigh(weight float32, count int) []float32 {
	if weight != s.weight {
		s.weight, s.equal = weight, s.equal[:0]
	}
	for len(s.equal) < count {
		s.equal = append(s.equal, weight)
	}
	return s.equal[:count]
}

// combine writes the sum of rows of a table, each times weight, to out.
func (s *windowScratch) combine(out []float32, weight float32, table []float32, rows []uint32) {
	simd.Combine(out, s.weigh(weight, len(rows)), table, rows)
}

func (w *windows) average(in []*tensor.Dense) error {
	words, means, n := in[0].Float32s(), w.means.Float32s(), w.means.Shape()[1]
	x := w.stretch
	return w.team.Each(len(x.Words), placesTogether, func(worker, p int) {
		s := &w.scratch[worker]
		s.rows = append(s.rows[:0], x.Words[x.From[p]:p]...)
		s.rows = append(s.rows, x.Words[p+1:x.To[p]]...)
		s.combine(means[p*n:][:n], 1/float32(len(s.rows)), words, s.rows)
	})
}

// averageBack computes the gradient of words from the sums.
func (w *windows) averageBack(in []*tensor.Dense) error {
	sums, moves, n := in[0].Float32s(), w.moves.Float32s(), w.means.Shape()[1]
	for _, row := range w.moved {
		clear(moves[int(row)*n:][:n])
	}
	x := w.stretch
	w.moved = append(w.moved[:0], x.Rows...)
	return w.team.Each(len(x.Rows), rowsTogether, func(worker, a int) {
		places, inside := x.Places[x.Slots[a]:x.Slots[a+1]], float32(0)
		for _, q := range places {
			inside += w.inside[q]
		}
		w.scratch[worker].combine(moves[int(x.Rows[a])*n:][:n], 1/inside, sums, places)
	})
}

// sumBack sums, for each place, the gradients of the windows that contain the place.
func (w *windows) sumBack(in []*tensor.Dense) error {
	sums, gradients, n := in[0].Float32s(), in[1].Float32s(), w.means.Shape()[1]
	x, last := w.stretch, len(w.stretch.Words)-1
	return w.team.Each(len(x.Words), placesTogether, func(worker, q int) {
		s := &w.scratch[worker]
		s.rows = s.rows[:0]
		for p := max(q-x.Window, 0); p <= min(q+x.Window, last); p++ {
			if p != q && int(x.From[p]) <= q && q < int(x.To[p]) {
				s.rows = append(s.rows, uint32(p))
			}
		}
		w.inside[q] = float32(len(s.rows))
		s.combine(sums[q*n:][:n], 1, gradients, s.rows)
	})
}
