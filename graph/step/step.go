package step

import (
	"cmp"
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

// A Step trains the rows of a table again and again. The scores of shared negatives, and their
// part of the gradients, are two dense products for a strip of rows. Other frozen vectors are
// gathered.
type Step struct {
	Sampler *Sampler
	Team    Team
	Dim     int             // N
	Blocks  []int           // block b is the rows Blocks[b] ... Blocks[b+1]-1; see Blocks
	Own     []int           // the first of the blocks that Run trains and the one behind the last; nil: all
	Update  optim.Optimizer // of the rows; nil: keep the gradients
	Kept    []float32       // (V, N), gets the gradients; nil: keep none
	Root    bool            // a kept gradient of s samples is root s times their mean

	// Scores, if not nil, returns the scores of a row's targets, in the order of
	// AppendTargets. They are not computed here: the matrices have N columns of Whole.
	Scores func(row int) []float32
	Whole  int

	shared  sharedRows
	losses  []float64 // of each block, summed in order
	workers []*worker
}

// Run trains all rows of left, (V, N), against the frozen vectors, (F, N), and returns their
// loss. It does not depend on the number of threads. An error says that a goroutine panicked.
// If only some blocks are its own, those are trained, and Total returns the loss once the losses of all are there.
func (s *Step) Run(left, frozen []float32) (float64, error) {
	first, end := 0, len(s.Blocks)-1
	if s.Own != nil {
		first, end = s.Own[0], s.Own[1]
	}
	if err := s.RunBlocks(left, frozen, first, end); err != nil {
		return 0, err
	}
	return s.Total(), nil
}

// RunBlocks trains the rows of the blocks first ... end-1. After those of all blocks, Total returns
// the loss of the step.
func (s *Step) RunBlocks(left, frozen []float32, first, end int) error {
	for len(s.workers) < s.Team.Threads() {
		s.workers = append(s.workers, newWorker(s.Sampler, s.Dim, cmp.Or(s.Whole, s.Dim)))
	}
	if s.Sampler.Shared > 0 {
		s.shared.pack(frozen, s.Sampler.DrawShared(), s.Dim)
	}
	s.losses = memory.Resize(s.losses, len(s.Blocks)-1)
	err := s.Team.Do(end-first, func(worker, k int) {
		b := first + k
		s.losses[b] = s.block(s.workers[worker], left, frozen, s.Blocks[b], s.Blocks[b+1])
	})
	if err != nil {
		return fmt.Errorf("skip-gram step: %w", err)
	}
	return nil
}

// WorkBytes is the memory of a Step for rows of n values: strips, with their gradients, of the threads
// that find work, and the shared negatives, packed in both orders.
func WorkBytes(rows, n, shared, threads int) int64 {
	busy := min(threads, rows/blockRows+1)
	return 4 * int64(2*stripRows*busy+2*shared) * int64(n)
}

// Losses returns those of all blocks in the last run, live: trainers that share the blocks bring them together.
func (s *Step) Losses() []float64 { return s.losses }

// Total returns the loss of the last run.
func (s *Step) Total() float64 {
	sum := 0.0
	for _, x := range s.losses {
		sum += x
	}
	return sum
}

// blockRows is the rows of a block in which every row has one sample.
const blockRows = 128

// Blocks cuts rows into blocks of about equal cost, so that no thread is left with a
// long one at the end of a step; a row of a higher cost is a block of its own. Row i
// has meanShare(i) samples in a step. The blocks fix the order in which the loss is
// summed. None of them has rows on both sides of a cut, the number of a row; cuts ascend.
func Blocks(rows int, s *Sampler, meanShare func(row int) float64, cuts ...int) []int {
	trained := 8 + float64(s.Negatives) // measured: the cost of a trained row, in samples
	if s.Shared > 0 {
		trained = 8 + float64(s.Shared)/4
	}
	return balanced(rows, blockRows*(trained+1), func(i int) float64 {
		share := meanShare(i)
		return idleRow + share + min(share, 1)*trained
	}, cuts...)
}

func balanced(rows int, block float64, cost func(row int) float64, cuts ...int) []int {
	blocks, sum := []int{0}, 0.0
	for i := range rows {
		c, cut := cost(i), false
		for len(cuts) > 0 && cuts[0] <= i {
			cut, cuts = cuts[0] == i, cuts[1:]
		}
		if sum > 0 && (cut || sum+c > block) {
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

// pack gathers the given rows of a matrix with n columns.
func (s *sharedRows) pack(matrix []float32, negatives []uint32, n int) {
	h := len(negatives)
	s.rows, s.transposed = memory.Resize(s.rows, h*n), memory.Resize(s.transposed, h*n)
	for k, row := range negatives {
		for j, x := range matrix[int(row)*n:][:n] {
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
