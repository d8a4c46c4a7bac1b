package trainer

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// Randomize fills a word table of rows of dim values as word2vec does it,
// uniformly in ±0.5/dim. Value i follows from word i of the stream, so all
// trainers start alike.
func Randomize(table []float32, dim int, seed uint64) {
	random := make([]uint32, 1<<12)
	for first := 0; first < len(table); first += len(random) {
		simd.Philox(random, seed, uint64(corpus.StreamInitWords), uint64(first/4))
		part := table[first:min(first+len(random), len(table))]
		for i := range part {
			part[i] = (float32(random[i]>>8)/(1<<24) - 0.5) / float32(dim)
		}
	}
}
