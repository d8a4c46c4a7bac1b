package wordcontext

import (
	"math/bits"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// Row i draws its random bits from the stream StreamDiscard.Sub(i). Counters below
// shuffleCounter choose the contexts that the row keeps. Counters from
// shuffleCounter on choose their order.
const shuffleCounter = 1 << 32

// choose chooses size of the numbers 0 ... n-1, every set of that size equally
// likely, and sets their bits in chosen. The caller passes chosen all zero. It is
// Floyd's algorithm (Bentley and Floyd, CACM 30(9), 1987), which needs exactly
// size draws. A draw from [0, k) has a bias of at most k/2^64.
func choose(chosen []uint64, n uint64, size int, seed uint64, row uint32) {
	stream := corpus.StreamDiscard.Sub(row)
	var draws [2]uint64
	for k := range size {
		if k%2 == 0 {
			r := corpus.Philox(seed, stream, uint64(k/2))
			draws = [2]uint64{uint64(r[1])<<32 | uint64(r[0]), uint64(r[3])<<32 | uint64(r[2])}
		}
		last := n - uint64(size) + uint64(k)
		x, _ := bits.Mul64(draws[k%2], last+1)
		if chosen[x/64]>>(x%64)&1 != 0 {
			x = last // no draw before could give last: its bit is not set
		}
		chosen[x/64] |= 1 << (x % 64)
	}
}

// shuffle puts the stored contexts of a row into random order, every order equally
// likely (Fisher-Yates). Each draw has a bias of at most len(contexts)/2^32.
func shuffle[T uint16 | uint32](contexts []T, seed uint64, row uint32) {
	var draws [256]uint32
	counter := uint64(shuffleCounter)
	for last := len(contexts) - 1; last > 0; counter += uint64(len(draws) / 4) {
		some := draws[:min(last, len(draws))]
		simd.Philox(some, seed, uint64(corpus.StreamDiscard.Sub(row)), counter)
		for _, draw := range some {
			x := corpus.Below(draw, uint32(last+1))
			contexts[last], contexts[x] = contexts[x], contexts[last]
			last--
		}
	}
}
