package tempered

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/optim"
)

// A Team is threads that work together.
type Team interface {
	// Threads is how many there are.
	Threads() int
	// Do calls work for 0 ... n-1, on any of the threads, and waits for all.
	Do(n int, work func(worker, i int)) error
}

// A Loss computes steps. The scores of shared negatives, and their part of the
// gradients, are two dense products for a strip of rows. Only positives are gathered.
type Loss struct {
	Sampler *Sampler
	Team    Team
	Dim     int             // N
	Blocks  []int           // block b is the rows Blocks[b] ... Blocks[b+1]-1; see Blocks
	Update  optim.Optimizer // of the rows; nil: keep the gradients
	Kept    []float32       // (V, N), gets the gradients; nil: keep none
	Root    bool            // a kept gradient of s samples is root s times their mean

	// Scores, if not nil, returns the scores of a row's own negatives and then its
	// positives, which are not computed here: the tables have N columns of Whole.
	Scores func(row int) []float32
	Whole  int

	shared  sharedRows
	losses  []float64 // of each block, summed in order
	workers []*worker
}

// Run trains all rows of left against right, both (V, N), and returns their loss. It
// does not depend on the number of threads. An error says that a goroutine panicked.
func (l *Loss) Run(left, right []float32) (float64, error) {
	for len(l.workers) < l.Team.Threads() {
		l.workers = append(l.workers, newWorker(l.Sampler, l.Dim, l.Dim))
	}
	l.shared.pack(right, l.Sampler.DrawShared(), l.Dim)
	l.losses = memory.Resize(l.losses, len(l.Blocks)-1)
	err := l.Team.Do(len(l.losses), func(worker, b int) {
		l.losses[b] = l.block(l.workers[worker], left, right, l.Blocks[b], l.Blocks[b+1])
	})
	if err != nil {
		return 0, fmt.Errorf("tempered step: %w", err)
	}
	return l.Total(), nil
}

// RunBlocks trains the rows of the blocks first ... end-1. After those of all blocks, Total returns
// the loss of the step.
func (l *Loss) RunBlocks(left, right []float32, first, end int) error {
	for len(l.workers) < l.Team.Threads() {
		l.workers = append(l.workers, newWorker(l.Sampler, l.Dim, max(l.Whole, l.Dim)))
	}
	if l.Sampler.Shared > 0 {
		l.shared.pack(right, l.Sampler.DrawShared(), l.Dim)
	}
	l.losses = memory.Resize(l.losses, len(l.Blocks)-1)
	return l.Team.Do(end-first, func(worker, k int) {
		b := first + k
		l.losses[b] = l.block(l.workers[worker], left, right, l.Blocks[b], l.Blocks[b+1])
	})
}

// Losses returns those of all blocks in the last step, live: trainers that share the blocks bring them together.
func (l *Loss) Losses() []float64 { return l.losses }

// Total returns the loss of the last step.
func (l *Loss) Total() float64 {
	sum := 0.0
	for _, x := range l.losses {
		sum += x
	}
	return sum
}

// blockRows is the rows of a block in which every row has one sample.
const blockRows = 128

// Blocks cuts rows into blocks of about equal cost, so that no thread is left with a
// long one at the end of a step; a row of a higher cost is a block of its own. Row i
// has meanShare(i) samples in a step. The blocks fix the order in which the loss is
// summed.
func Blocks(rows int, s *Sampler, meanShare func(row int) float64) []int {
	trained := 8 + float64(s.Negatives) // measured: the cost of a trained row, in samples
	if s.Shared > 0 {
		trained = 8 + float64(s.Shared)/4
	}
	return balanced(rows, blockRows*(trained+1), func(i int) float64 {
		share := meanShare(i)
		return idleRow + share + min(share, 1)*trained
	})
}

func balanced(rows int, block float64, cost func(row int) float64) []int {
	blocks, sum := []int{0}, 0.0
	for i := range rows {
		c := cost(i)
		if sum > 0 && sum+c > block {
			blocks, sum = append(blocks, i), 0
		}
		sum += c
	}
	return append(blocks, rows)
}

// sharedRows is the rows of the negatives that all rows of a step share, packed for
// both products.
type sharedRows struct {
	rows       []float32 // (H, N)
	transposed []float32 // (N, H)
}

// pack gathers the given rows of a table with n columns.
func (s *sharedRows) pack(table []float32, negatives []uint32, n int) {
	h := len(negatives)
	s.rows, s.transposed = memory.Resize(s.rows, h*n), memory.Resize(s.transposed, h*n)
	for k, row := range negatives {
		for j, x := range table[int(row)*n:][:n] {
			s.rows[k*n+j], s.transposed[j*h+k] = x, x
		}
	}
}

// scale multiplies a gradient by the root of the samples that it is the mean of.
func scale(gradient []float32, samples int) {
	root := float32(math.Sqrt(float64(samples)))
	for j := range gradient {
		gradient[j] *= root
	}
}
