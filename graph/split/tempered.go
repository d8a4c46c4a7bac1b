package split

import (
	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A temperedStep trains rows whose samples differ in number, as package tempered does, but for
// the scores, which the ranks add up.
type temperedStep struct {
	losses [2]*tempered.Loss // of the two steps
	chunks []int             // chunk c is the blocks chunks[c] ... chunks[c+1]-1: those between two exchanges

	base   int       // first row of the chunk
	places []int     // where the scores of its rows begin
	scores []float32 // of the chunk
}

func (t *CL) newTempered() {
	m, c := t.matrix, t.config
	t.sampler.Updates = func(row int) int { return m.Updates(row, t.sampler.Iteration) }
	blocks := tempered.Blocks(t.rows, t.sampler, func(i int) float64 { return float64(m.RowLength(i)) / float64(m.Contexts()) })
	s := &temperedStep{chunks: []int{0}}
	for step := range s.losses {
		table := t.words
		if step == 1 {
			table = t.contexts
		}
		s.losses[step] = &tempered.Loss{
			Sampler: t.sampler, Team: t.workers, Dim: t.columns, Whole: c.Dim, Blocks: blocks, Update: table.optimizer,
			Scores: func(row int) []float32 { return s.scores[s.places[row-s.base]:] },
		}
	}
	// A chunk has a block for each thread, and more if they are small.
	slots, most, rows := m.Slots(), 0, 0
	values := func(first, end int) int { return (end-first)*c.Negatives + int(slots[end]-slots[first]) }
	limit := cacheBytes * t.workers.Threads()
	if !chunked(t.workers.Threads(), t.comm.Size()) {
		limit = mostRows * 4 * t.columns * (1 + c.Negatives)
	}
	for first := 0; first < len(blocks)-1; {
		end := min(first+t.workers.Threads(), len(blocks)-1)
		for end < len(blocks)-1 && 4*t.columns*values(blocks[first], blocks[end+1]) < limit {
			end++
		}
		most, rows = max(most, values(blocks[first], blocks[end])), max(rows, blocks[end]-blocks[first])
		s.chunks = append(s.chunks, end)
		first = end
	}
	s.places = make([]int, rows+1)
	t.work = &work{
		drawn: make([][]uint32, t.workers.Threads()), partial: make([]float32, most), scores: make([]float32, most),
		all: make([]float32, t.joined(most)), parts: make([][]float32, t.comm.Size()),
	}
	t.tempered = s
}

// temperedStep trains all rows of left against frozen right and returns the loss.
func (t *CL) temperedStep(left, right *table) (float64, error) {
	s := t.tempered
	loss := s.losses[t.sampler.Step]
	for c := range len(s.chunks) - 1 {
		first, end := s.chunks[c], s.chunks[c+1]
		s.base = loss.Blocks[first]
		n := 0
		for row := s.base; row < loss.Blocks[end]; row++ {
			s.places[row-s.base] = n
			if share := t.sampler.Share(row); len(share) > 0 {
				n += t.config.Negatives + len(share)
			}
		}
		err := t.workers.Do(end-first, func(worker, b int) {
			t.temperedDots(left, right, worker, loss.Blocks[first+b], loss.Blocks[first+b+1])
		})
		if err != nil {
			return 0, err
		}
		if s.scores, err = t.join(n); err != nil {
			return 0, err
		}
		if err := loss.RunBlocks(left.data, right.data, first, end); err != nil {
			return 0, err
		}
	}
	return loss.Total(), nil
}

// temperedDots computes this rank's part of the scores of the rows first ... end-1.
func (t *CL) temperedDots(left, right *table, worker, first, end int) {
	w, k, n, ranks := t.work, t.config.Negatives, t.columns, t.comm.Size()
	w.drawn[worker] = t.sampler.DrawOwn(first, end, w.drawn[worker])
	for row := first; row < end; row++ {
		share := t.sampler.Share(row)
		if len(share) == 0 {
			continue
		}
		out := w.partial[t.tempered.places[row-t.tempered.base]:][:k+len(share)]
		if share[0] == wordcontext.NoContext { // it trains on nothing
			clear(out)
			continue
		}
		from := left.data[row*n:][:n]
		simd.PartialDots(out[:k], from, right.data, w.drawn[worker][(row-first)*k:][:k], ranks)
		simd.PartialDots(out[k:], from, right.data, share, ranks)
	}
}
