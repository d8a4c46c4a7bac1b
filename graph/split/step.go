package split

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// work is the scratch memory of a rank.
type work struct {
	targets      []uint32    // (rows of a chunk, 1+K)
	drawn        [][]uint32  // negatives of a piece, for each thread
	partial      []float32   // (rows of a chunk, 1+K), this rank's part of the dot products
	all          []float32   // (R, rows of a chunk, 1+K) or less: the parts of all ranks
	parts        [][]float32 // of all
	scores       []float32   // (rows of a chunk, 1+K)
	coefficients []float32   // likewise
	kinds        []uint32    // of a strip
	losses       []simd.Loss // of each block
	gradient     [][]float32 // (columns), for each thread
}

// descent is the rate at which simd.Gradients gives the gradient of the loss itself.
const descent = -1

// ahead is how many rows before their use the rows of targets are fetched.
const ahead = 2

func (t *CL) newWork() *work {
	width, threads := 1+t.config.Negatives, t.workers.Threads()
	n := t.largestChunk() * width
	w := &work{
		targets: make([]uint32, n), drawn: make([][]uint32, threads), partial: make([]float32, n), all: make([]float32, t.joined(n)),
		parts: make([][]float32, t.comm.Size()), scores: make([]float32, n), coefficients: make([]float32, n),
		kinds: make([]uint32, t.strip*width), losses: make([]simd.Loss, (t.rows+blockRows-1)/blockRows), gradient: make([][]float32, threads),
	}
	for i := 0; i < len(w.kinds); i += width {
		w.kinds[i] = simd.Positive
	}
	for k := range w.gradient {
		w.gradient[k] = make([]float32, t.columns)
	}
	return w
}

// iteration runs iteration number unit at a learning rate.
func (t *CL) iteration(unit int, rate float64) (report trainer.Report, err error) {
	for step := range t.samples {
		left, right := t.words, t.contexts
		if step == 1 {
			left, right = right, left
		}
		samples, err := t.samples[step].iteration(t, unit)
		if err != nil {
			return report, err
		}
		t.sampler.Iteration, t.sampler.Step, t.sampler.Samples = unit, step, samples
		left.optimizer.Begin(unit+1, rate)
		run := t.step
		if t.tempered != nil {
			run = t.temperedStep
		} else if t.byRows != nil {
			run = t.rowsStep
		}
		loss, err := run(left, right)
		if err != nil {
			return report, fmt.Errorf("iteration %d, step %d: %w", unit, step+1, err)
		}
		report.Loss += loss
		count := 0
		for _, sample := range samples {
			if sample != wordcontext.NoSample {
				count++
			}
		}
		report.Pairs += float64(count) * float64(1+t.config.Negatives)
	}
	return report, nil
}

// step trains all rows of left against frozen right and returns the loss.
func (t *CL) step(left, right *table) (float64, error) {
	for b := range t.work.losses {
		t.work.losses[b] = simd.NewLoss()
	}
	for from := 0; from < len(t.pieces)-1; from += t.chunk {
		pieces := t.pieces[from:min(from+t.chunk+1, len(t.pieces))]
		if err := t.trainChunk(left, right, pieces); err != nil {
			return 0, err
		}
	}
	sum := 0.0
	for b := range t.work.losses {
		sum += t.work.losses[b].Total()
	}
	return sum, nil
}

// trainChunk trains the rows of some pieces.
func (t *CL) trainChunk(left, right *table, pieces []int) error {
	w, width, base := t.work, 1+t.config.Negatives, pieces[0]
	rows := pieces[len(pieces)-1] - base
	err := t.workers.Do(len(pieces)-1, func(worker, p int) {
		t.partialDots(left, right, worker, base, pieces[p], pieces[p+1])
	})
	if err != nil {
		return err
	}
	scores, err := t.join(rows * width)
	if err != nil {
		return err
	}
	firstBlock, lastBlock := base/blockRows, (base+rows-1)/blockRows
	err = t.workers.Do(lastBlock-firstBlock+1, func(_, b int) {
		block := firstBlock + b
		first, last := max(block*blockRows, base), min((block+1)*blockRows, base+rows)
		for row := first; row < last; row += t.strip {
			from, to := (row-base)*width, (min(row+t.strip, last)-base)*width
			for i := from; i < to; i += width {
				if w.targets[i] == wordcontext.NoContext {
					withoutLoss(scores[i:][:width])
				}
			}
			simd.Gradients(w.coefficients[from:to], scores[from:to], w.kinds, descent, &w.losses[block])
		}
	})
	if err != nil {
		return err
	}
	return t.workers.Do(len(pieces)-1, func(worker, p int) {
		for row := pieces[p]; row < pieces[p+1]; row++ {
			at := (row - base) * width
			targets, c := w.targets[at:][:width], w.coefficients[at:][:width]
			if targets[0] == wordcontext.NoContext {
				targets, c = nil, nil // no terms: the gradient is zero
			}
			left.optimizer.UpdateCombination(row, left.data[row*t.columns:][:t.columns], c, right.data, targets, w.gradient[worker])
		}
	})
}

// withoutLoss sets the scores of a row to infinities of the right sign: the loss of each
// is zero, exactly.
func withoutLoss(scores []float32) {
	for k := range scores {
		scores[k] = float32(math.Inf(-1))
	}
	scores[0] = float32(math.Inf(1))
}

// partialDots draws the targets of the rows first ... end-1 and computes this rank's part of
// their dot products. base is the first row of the chunk.
func (t *CL) partialDots(left, right *table, worker, base, first, end int) {
	w, k, n := t.work, t.config.Negatives, t.columns
	w.drawn[worker] = t.sampler.DrawOwn(first, end, w.drawn[worker])
	drawn, width := w.drawn[worker], 1+k
	targets := w.targets[(first-base)*width : (end-base)*width]
	for i := range end - first {
		targets[i*width] = t.sampler.Samples[first+i]
		copy(targets[i*width+1:][:k], drawn[i*k:])
	}
	fetch := func(row int) {
		if row < end-first && targets[row*width] != wordcontext.NoContext {
			simd.Prefetch(right.data, targets[row*width:][:width], n)
		}
	}
	for i := range ahead {
		fetch(i)
	}
	for i := range end - first {
		fetch(i + ahead)
		out := w.partial[(first-base+i)*width:][:width]
		if targets[i*width] == wordcontext.NoContext {
			clear(out)
			continue
		}
		simd.PartialDots(out, left.data[(first+i)*n:][:n], right.data, targets[i*width:][:width], t.comm.Size())
	}
}

// joined is how many values of other ranks join needs room for, of n.
func (t *CL) joined(n int) int {
	if t.comm.Size() == 2 {
		return 2 * n
	}
	return n + t.comm.Size()
}

// join adds up the ranks' parts of n dot products, in a fixed tree. Two ranks swap all they
// have; of more, each adds up some for all.
func (t *CL) join(n int) ([]float32, error) {
	w, ranks, rank := t.work, t.comm.Size(), t.comm.Rank()
	switch ranks {
	case 1:
		return w.partial[:n], nil
	case 2:
		copy(w.all[rank*n:][:n], w.partial)
		if err := t.comm.AllGather(cluster.Bytes(w.all[:2*n]), []int{4 * n, 8 * n}); err != nil {
			return nil, err
		}
		w.parts[0], w.parts[1] = w.all[:n], w.all[n:2*n]
		simd.SumPartials(w.parts)
		return w.all[:n], nil
	}
	ends := cluster.Ends[float32](cluster.Equal(n, ranks))
	own := len(cluster.Part(cluster.Bytes(w.scores[:n]), ends, rank)) / 4
	recvEnds := make([]int, ranks)
	for g := range ranks {
		recvEnds[g] = 4 * own * (g + 1)
		w.parts[g] = w.all[g*own:][:own]
	}
	if err := t.comm.AllToAll(cluster.Bytes(w.partial[:n]), ends, cluster.Bytes(w.all[:ranks*own]), recvEnds); err != nil {
		return nil, err
	}
	simd.SumPartials(w.parts)
	copy(w.scores[ends[rank]/4-own:][:own], w.parts[0])
	return w.scores[:n], t.comm.AllGather(cluster.Bytes(w.scores[:n]), ends)
}
