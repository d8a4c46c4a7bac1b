package split

import (
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// columns is how ranks train if rows have negatives of their own: each has some columns of all rows. It
// computes its part of the dot products of some rows, the ranks add the parts up, and then package step trains
// the rows with the scores.
type columns struct {
	steps  [2]*step.Step
	chunks []int // chunk c is the blocks chunks[c] ... chunks[c+1]-1: those between two exchanges

	base    int         // first row of the chunk
	places  []int       // where the scores of its rows begin
	targets [][]uint32  // of a block, for each thread
	drawn   [][]uint32  // negatives of a block, for each thread
	partial []float32   // this rank's part of the dot products of the chunk
	all     []float32   // the parts of all ranks, or of some dot products
	parts   [][]float32 // of all
	joined  []float32   // memory of scores
	scores  []float32   // of the chunk
}

func (t *CL) newColumns() {
	m, c, threads := t.matrix, t.options, t.workers.Threads()
	s := &columns{chunks: []int{0}, targets: make([][]uint32, threads), drawn: make([][]uint32, threads), parts: make([][]float32, t.comm.Size())}
	for i, table := range []*table{t.words, t.contexts} {
		s.steps[i] = &step.Step{
			Sampler: t.sampler, Team: t.workers, Dim: t.columns, Whole: c.Dim, Blocks: t.blocks, Update: table.optimizer,
			Scores: func(row int) []float32 { return s.scores[s.places[row-s.base]:] },
		}
	}
	// A chunk has a block for each thread, and more if they are small.
	slots, most, rows := m.Slots(), 0, 0
	values := func(first, end int) int { return (end-first)*c.Negatives + int(slots[end]-slots[first]) }
	limit := cacheBytes * threads
	if !chunked(threads, t.comm.Size()) {
		limit = mostRows * 4 * t.columns * (1 + c.Negatives)
	}
	blocks := t.blocks
	for first := 0; first < len(blocks)-1; {
		end := min(first+threads, len(blocks)-1)
		for end < len(blocks)-1 && 4*t.columns*values(blocks[first], blocks[end+1]) < limit {
			end++
		}
		most, rows = max(most, values(blocks[first], blocks[end])), max(rows, blocks[end]-blocks[first])
		s.chunks = append(s.chunks, end)
		first = end
	}
	s.places = make([]int, rows+1)
	s.partial, s.joined, s.all = make([]float32, most), make([]float32, most), make([]float32, t.room(most))
	t.byColumns = s
}

// columnsStep trains all rows of left against frozen right and returns the loss.
func (t *CL) columnsStep(left, right *table) (float64, error) {
	s := t.byColumns
	run := s.steps[t.sampler.Step]
	for c := range len(s.chunks) - 1 {
		first, end := s.chunks[c], s.chunks[c+1]
		s.base = t.blocks[first]
		n := 0
		for row := s.base; row < t.blocks[end]; row++ {
			s.places[row-s.base] = n
			n += t.sampler.Targets(row)
		}
		err := t.workers.Do(end-first, func(worker, b int) {
			t.partialDots(left, right, worker, t.blocks[first+b], t.blocks[first+b+1])
		})
		if err != nil {
			return 0, err
		}
		if s.scores, err = t.join(n); err != nil {
			return 0, err
		}
		if err := run.RunBlocks(left.data, right.data, first, end); err != nil {
			return 0, err
		}
	}
	return run.Total(), nil
}

// ahead is how many rows before their use frozen rows are fetched.
const ahead = 2

// partialDots computes this rank's part of the dot products of the rows first ... end-1.
func (t *CL) partialDots(left, right *table, worker, first, end int) {
	s, n := t.byColumns, t.columns
	s.drawn[worker] = t.sampler.DrawOwn(first, end, s.drawn[worker])
	targets := s.targets[worker][:0]
	for row := first; row < end; row++ {
		targets, _ = t.sampler.AppendTargets(targets, row, first, s.drawn[worker])
	}
	s.targets[worker] = targets
	at := 0
	for row := first; row < end; row++ {
		size := t.sampler.Targets(row)
		later := targets[min(at+ahead*size, len(targets)):]
		simd.Prefetch(right.data, later[:min(size, len(later))], n)
		simd.PartialDots(s.partial[s.places[row-s.base]:][:size], left.data[row*n:][:n], right.data, targets[at:at+size], t.comm.Size())
		at += size
	}
}

// room is how many values of other ranks join needs room for, of n.
func (t *CL) room(n int) int {
	if t.comm.Size() == 2 {
		return 2 * n
	}
	return n + t.comm.Size()
}

// join adds up the ranks' parts of n dot products, in a fixed tree. Two ranks swap all they
// have; of more, each adds up some for all.
func (t *CL) join(n int) ([]float32, error) {
	s, ranks, rank := t.byColumns, t.comm.Size(), t.comm.Rank()
	switch ranks {
	case 1:
		return s.partial[:n], nil
	case 2:
		copy(s.all[rank*n:][:n], s.partial)
		if err := t.comm.AllGather(cluster.Bytes(s.all[:2*n]), []int{4 * n, 8 * n}); err != nil {
			return nil, err
		}
		s.parts[0], s.parts[1] = s.all[:n], s.all[n:2*n]
		simd.SumPartials(s.parts)
		return s.all[:n], nil
	}
	ends := cluster.Ends[float32](cluster.Equal(n, ranks))
	own := len(cluster.Part(cluster.Bytes(s.joined[:n]), ends, rank)) / 4
	recvEnds := make([]int, ranks)
	for g := range ranks {
		recvEnds[g] = 4 * own * (g + 1)
		s.parts[g] = s.all[g*own:][:own]
	}
	if err := t.comm.AllToAll(cluster.Bytes(s.partial[:n]), ends, cluster.Bytes(s.all[:ranks*own]), recvEnds); err != nil {
		return nil, err
	}
	simd.SumPartials(s.parts)
	copy(s.joined[ends[rank]/4-own:][:own], s.parts[0])
	return s.joined[:n], t.comm.AllGather(cluster.Bytes(s.joined[:n]), ends)
}
