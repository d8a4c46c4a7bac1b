package step

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
)

// A Step trains rows again and again. The scores of shared negatives, and their part of the
// gradients, are two dense products for a strip of rows. Other frozen vectors are gathered, in
// chunks, after them. So the scores of a row are never all there at once.
type Step struct {
	Sampler *Sampler
	Team    *team.Team
	Dim     int   // N
	Blocks  []int // block b is the rows Blocks[b] ... Blocks[b+1]-1 of the list; see Blocks

	// Give gets the mean gradient of the samples of each row that the sampler lists; nil for a row without samples.
	Give func(row, samples int, gradient []float32)

	shared  sharedRows
	losses  []float64 // of each block, summed in order
	workers []*worker
}

// Run computes the gradients of the rows of left, (R, N), that the sampler lists, against the frozen vectors, (F, N), and gives
// them away, row by row. It returns the loss. It does not depend on the number of threads. An error says that a goroutine panicked.
func (s *Step) Run(left, frozen []float32) (float64, error) {
	for len(s.workers) < s.Team.Threads() {
		s.workers = append(s.workers, newWorker(s.Sampler, s.Dim))
	}
	if s.Sampler.Shared > 0 {
		s.shared.pack(frozen, s.Sampler.DrawShared(), s.Dim)
	}
	s.losses = memory.Resize(s.losses, len(s.Blocks)-1)
	err := s.Team.Do(len(s.losses), func(worker, b int) {
		s.losses[b] = s.block(s.workers[worker], left, frozen, s.Blocks[b], s.Blocks[b+1])
	})
	if err != nil {
		return 0, fmt.Errorf("step of W2V-CL: %w", err)
	}
	sum := 0.0
	for _, loss := range s.losses {
		sum += loss
	}
	return sum, nil
}

// WorkBytes is the memory of a Step for rows of n values: strips, with their gradients, of the threads
// that find work, and the shared negatives, packed in both orders.
func WorkBytes(rows, n, shared, threads int) int64 {
	busy := min(threads, rows/blockRows+1)
	return 4 * int64(2*stripRows*busy+2*shared) * int64(n)
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
