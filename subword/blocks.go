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
	total []float32   // sums[0], once all were added to it
}

// shardCount is the number of shards for so many rows and floats of a sum.
func shardCount(rows, size int) int {
	blocks := (rows + blockRows - 1) / blockRows
	return max(1, min(maxShards, blocks, shardFloats/max(size, 1)))
}

// shardBytes is the memory of newShards.
func shardBytes(rows, size int) int64 { return 4 * int64(shardCount(rows, size)) * int64(size) }

func newShards(rows, size int) *shards {
	s := &shards{rows: rows, size: size, sums: make([][]float32, shardCount(rows, size))}
	for i := range s.sums {
		s.sums[i] = make([]float32, size)
	}
	s.total = s.sums[0]
	return s
}

// do calls work for the blocks of every shard in order, with the shard's sum, and adds the sums up into total.
func (s *shards) do(t *team.Team, work func(worker int, sum []float32, first, last int)) error {
	return s.doParts(t, []int{s.size}, func(worker, _ int, sum []float32, first, last int) { work(worker, sum, first, last) })
}

// doParts is do of sums in parts of the given sizes, one behind the other. Threads share the parts of a shard, too: there
// is only one shard if the sums are large.
func (s *shards) doParts(t *team.Team, sizes []int, work func(worker, part int, sum []float32, first, last int)) error {
	starts := make([]int, 1, len(sizes)+1)
	for i, size := range sizes {
		starts = append(starts, starts[i]+size)
	}
	blocks, count := (s.rows+blockRows-1)/blockRows, len(s.sums)
	err := t.Do(count*len(sizes), func(worker, task int) {
		i, part := task/len(sizes), task%len(sizes)
		sum := s.sums[i][starts[part]:starts[part+1]]
		clear(sum)
		for b := i * blocks / count; b < (i+1)*blocks/count; b++ {
			work(worker, part, sum, b*blockRows, min((b+1)*blockRows, s.rows))
		}
	})
	if err != nil || count == 1 {
		return err
	}
	const piece = 4096
	size := starts[len(sizes)]
	return t.Do((size+piece-1)/piece, func(_, i int) {
		first, last := i*piece, min((i+1)*piece, size)
		for _, sum := range s.sums[1:] {
			simd.SGD(s.total[first:last], sum[first:last], 1, -1)
		}
	})
}

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
