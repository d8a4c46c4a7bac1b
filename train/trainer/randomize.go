package trainer

import (
	"runtime"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// Randomize fills a word table of rows of dim values as word2vec does it,
// uniformly in ±0.5/dim. Value i follows from number i of the stream, so all
// trainers start alike. All processors take part: this is the first use of the
// table's memory, which costs more than the random numbers.
func Randomize(table []float32, dim int, seed uint64) {
	const atATime = 1 << 18 // a multiple of what randomize draws at a time
	parallel.Ranges(runtime.GOMAXPROCS(0), len(table), atATime, func(first, end int) {
		randomize(table[first:end], first, dim, seed)
	})
}

// Clear sets a table to zero, from all processors as Randomize.
func Clear(table []float32) {
	parallel.Ranges(runtime.GOMAXPROCS(0), len(table), 1<<18, func(first, end int) { clear(table[first:end]) })
}

// randomize fills part of a table, from value number first on, which is a multiple of 4.
func randomize(part []float32, first, dim int, seed uint64) {
	bits := make([]uint32, 1<<12)
	for len(part) > 0 {
		simd.Philox(bits, seed, uint64(corpus.StreamInitWords), uint64(first/4))
		some := part[:min(len(bits), len(part))]
		for i := range some {
			some[i] = (float32(bits[i]>>8)/(1<<24) - 0.5) / float32(dim)
		}
		part, first = part[len(some):], first+len(some)
	}
}

// Uniform fills a parameter of an encoder with values in ±limit, which follow from the seed, the parameter's number and
// the place.
func Uniform(x []float32, limit float64, seed uint64, parameter int) {
	const atATime = 1 << 12 // a multiple of 4
	stream := corpus.StreamInitEncoder.Sub(uint32(parameter))
	parallel.Ranges(runtime.GOMAXPROCS(0), len(x), atATime, func(first, end int) {
		var bits [atATime]uint32
		simd.Philox(bits[:], seed, uint64(stream), uint64(first/4))
		for j := range end - first {
			x[first+j] = float32((float64(bits[j]>>8)/(1<<23) - 1) * limit)
		}
	})
}
