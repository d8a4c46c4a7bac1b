package subword

import (
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// blockRows is how many words are worked on at a time: their features and vectors fit in the second-level cache. A
// multiple of six fills the tiles of the product.
const blockRows = 192

// Gradients of parameters are sums over all words. Words are dealt out to shards, each with a sum of its own; then the
// sums are added in order. The number of shards follows from the shapes alone, so the result does not depend on the
// threads.
const (
	maxShards   = 32
	shardFloats = 8 << 20 // of all sums together
)

type shards struct {
	rows  int
	size  int         // floats of a sum
	sums  [][]float32 // one a shard
	total []float32
}

// shardCount is the number of shards for so many rows and floats of a sum.
func shardCount(rows, size int) int {
	blocks := (rows + blockRows - 1) / blockRows
	return max(1, min(maxShards, blocks, shardFloats/max(size, 1)))
}

// shardBytes is the memory of newShards.
func shardBytes(rows, size int) int64 { return 4 * int64(1+shardCount(rows, size)) * int64(size) }

func newShards(rows, size int) *shards {
	s := &shards{rows: rows, size: size, sums: make([][]float32, shardCount(rows, size)), total: make([]float32, size)}
	for i := range s.sums {
		s.sums[i] = make([]float32, size)
	}
	return s
}

// do calls work for the blocks of every shard in order, with the shard's sum, and adds the sums up into total.
func (s *shards) do(t *team.Team, work func(worker int, sum []float32, first, last int)) error {
	blocks, count := (s.rows+blockRows-1)/blockRows, len(s.sums)
	err := t.Do(count, func(worker, i int) {
		sum := s.sums[i]
		clear(sum)
		for b := i * blocks / count; b < (i+1)*blocks/count; b++ {
			work(worker, sum, b*blockRows, min((b+1)*blockRows, s.rows))
		}
	})
	if err != nil {
		return err
	}
	const piece = 4096
	return t.Do((s.size+piece-1)/piece, func(_, i int) {
		first, last := i*piece, min((i+1)*piece, s.size)
		total := s.total[first:last]
		copy(total, s.sums[0][first:last])
		for _, sum := range s.sums[1:] {
			simd.SGD(total, sum[first:last], 1, -1)
		}
	})
}

// eachBlock calls work for all blocks of rows.
func eachBlock(t *team.Team, rows int, work func(worker, first, last int)) error {
	return t.Do((rows+blockRows-1)/blockRows, func(worker, b int) {
		work(worker, b*blockRows, min((b+1)*blockRows, rows))
	})
}

// transpose writes the transposed of a matrix of the given size to dst.
func transpose(dst, src []float32, rows, columns int) {
	for i := range rows {
		for j, x := range src[i*columns:][:columns] {
			dst[j*rows+i] = x
		}
	}
}
