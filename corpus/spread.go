package corpus

import (
	"math/bits"
	"sort"
)

const (
	// golden is 2^64 divided by the golden ratio. Its multiples, modulo 2^64, cover
	// all numbers evenly, however many they are.
	golden = 0x9E3779B97F4A7C15

	// MaxSpread is the most numbers that DrawSpread draws at once.
	MaxSpread = 1024
)

// DrawSpread draws len(dst) = H numbers, at most [MaxSpread], for a step, 0 or 1, of an
// iteration. They are spread over the whole distribution, one for each of H parts of
// equal probability, and a part's numbers are spread over the part from iteration to
// iteration. So in H numbers, and in the numbers of some iterations, each number is
// about as frequent as its weight says, much closer than independent draws come; and
// over many iterations each has its probability. It is a lattice of rank one with a
// random shift for each part (Niederreiter, "Random Number Generation and Quasi-Monte
// Carlo Methods", SIAM 1992, chapter 5). Number k is, in whole numbers without bounds:
//
//	h = words 0 (low) and 1 (high) of Philox(seed, StreamShared, step*1024+k)
//	v = (h + iteration*0x9E3779B97F4A7C15) mod 2^64  // golden ratio
//	y = floor((k*2^64 + v) / H)                      // a fraction of 2^64, in part k
//	dst[k] = the first number whose weight, with those of all before it, exceeds y/2^64 of all weights
//
// The weights are those of the table. So the probabilities are exactly those of Draw's
// cells, and a weight of zero is never drawn.
func (a *Alias) DrawSpread(dst []uint32, seed uint64, iteration, step int) {
	ends := a.cumulative()
	for k := range dst {
		random := Philox(seed, StreamShared, uint64(step*MaxSpread+k))
		v := uint64(random[1])<<32 | uint64(random[0])
		v += uint64(iteration) * golden
		y, _ := bits.Div64(uint64(k), v, uint64(len(dst)))
		// y/2^64 of the parts, rounded down. Sums of weights are whole parts, so
		// they exceed one if they exceed the other.
		high, low := bits.Mul64(y, uint64(len(a.cells)))
		part := high<<32 | low>>32
		dst[k] = uint32(sort.Search(len(ends), func(w int) bool { return ends[w] > part }))
	}
}

// cumulative returns for each number its weight and those of all before it, in parts of
// 1/(n*2^32) of all weights. It is made when it is first needed: many tables never
// need it.
func (a *Alias) cumulative() []uint64 {
	a.sum.Do(func() {
		a.ends = make([]uint64, len(a.cells))
		for i, c := range a.cells {
			a.ends[i] += uint64(c.accept)
			a.ends[c.other] += 1<<32 - uint64(c.accept)
		}
		for i := 1; i < len(a.ends); i++ {
			a.ends[i] += a.ends[i-1]
		}
	})
	return a.ends
}
