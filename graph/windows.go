package graph

import (
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// windows is the operation that computes the samples of large-batch CBOW, the means of the windows
// of a stretch of T places at most:
//
//	words: (V, N)  result: (T, N), row p the mean of the rows of the words in the window of place p
//
// What it sends back is not the derivative. Row p of the incoming gradient, e_p, is that of the mean of
// window p. It goes undivided to every word in the window, and a word moves along the mean of what it gets:
//
//	gradient: (V, N), row c the mean of e_p over all windows p that a place of word c is in
//
// This is the derivative up to a factor for each row, which Adam ignores, if all windows have as many words. The mean
// makes the gradient of a row as large as that of one sample, however often its word occurs.
// Rows of words that do not occur are zero.
type windows struct {
	team    *team.Team
	stretch *wordcontext.Stretch // of the next run
	means   *tensor.Dense        // (T, N)
	sums    []float32            // (T, N): of the gradients that come back; means, unless these are still read
	moves   *tensor.Dense        // (V, N)
	moved   []uint32             // rows of moves that are not zero
	inside  []float32            // (T): how many windows a place is in
	scratch []windowScratch      // of each worker
}

// windowScratch lists the places or words of a window, and their coefficients.
type windowScratch struct {
	rows    []uint32
	weights []float32
}

// newWindows returns the operation for a vocabulary of so many words. A dry account gives it no memory.
func newWindows(words int, s *wordcontext.Stretches, workers *team.Team, c Options) *windows {
	t := s.Capacity()
	means := c.Account.Floats(trainer.ForWork, t*c.Dim)
	sums := means
	if c.Together { // step 1 reads the means after the gradient is known
		sums = c.Account.Floats(trainer.ForWork, t*c.Dim)
	}
	moves := c.Account.Floats(trainer.ForWork, words*c.Dim)
	inside := trainer.Of[float32](c.Account, trainer.ForWork, t)
	if means == nil || moves == nil || inside == nil {
		return nil
	}
	return &windows{
		team: workers, means: dense(means, t, c.Dim), sums: sums, moves: dense(moves, words, c.Dim), inside: inside,
		scratch: make([]windowScratch, workers.Threads()),
	}
}

// apply adds the operation to the graph of words.
func (w *windows) apply(g *iteration, words *gorgonia.Node) *gorgonia.Node {
	shape := w.means.Shape()
	return g.add(func() (*gorgonia.Node, error) {
		return operation.Apply("windows: means of words", gorgonia.Nodes{words}, shape[0], shape[1], w.forward, w.backward)
	})
}

// placesTogether is how many places a worker takes at a time: their rows and those around
// them stay in its cache.
const placesTogether = 256

// combine writes the sum of rows of a table, each times weight, to out.
func (s *windowScratch) combine(out []float32, weight float32, table []float32, rows []uint32) {
	s.weights = s.weights[:0]
	for range rows {
		s.weights = append(s.weights, weight)
	}
	simd.Combine(out, s.weights, table, rows)
}

// forward computes the means.
func (w *windows) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	words, means, n := in[0].Float32s(), w.means.Float32s(), w.means.Shape()[1]
	x := w.stretch
	err := w.team.Each(len(x.Words), placesTogether, func(worker, p int) {
		s := &w.scratch[worker]
		s.rows = append(s.rows[:0], x.Words[x.From[p]:p]...)
		s.rows = append(s.rows, x.Words[p+1:x.To[p]]...)
		s.combine(means[p*n:][:n], 1/float32(len(s.rows)), words, s.rows)
	})
	return w.means, err
}

// backward computes the gradient of words from that of the means.
func (w *windows) backward(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	sums, moves, n := w.sums, w.moves.Float32s(), w.means.Shape()[1]
	if err := w.sumBack(gradient.Float32s(), sums, n); err != nil {
		return nil, err
	}
	for _, row := range w.moved {
		clear(moves[int(row)*n:][:n])
	}
	x := w.stretch
	w.moved = append(w.moved[:0], x.Rows...)
	err := w.team.Each(len(x.Rows), rowsTogether, func(worker, a int) {
		places, inside := x.Places[x.Slots[a]:x.Slots[a+1]], float32(0)
		for _, q := range places {
			inside += w.inside[q]
		}
		w.scratch[worker].combine(moves[int(x.Rows[a])*n:][:n], 1/inside, sums, places)
	})
	return []*tensor.Dense{w.moves}, err
}

// sumBack sums, for each place, the gradients of the windows that contain the place.
func (w *windows) sumBack(gradients, sums []float32, n int) error {
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
