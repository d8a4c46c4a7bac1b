package corpus

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"sync"
	"unsafe"
)

// An Alias draws numbers 0 ... n-1 with given probabilities, each in constant time
// (the alias method: Walker, ACM TOMS 3(3), 1977; its table in linear time: Vose,
// IEEE TSE 17(9), 1991), or many that are spread evenly (DrawSpread). Its probabilities
// never change; any number of goroutines may draw.
//
// The table is built in whole numbers, so it is exact: the cells of the table sum
// to the weights, rounded to multiples of 1/(n·2^32) of their sum. A weight of
// zero is never drawn.
type Alias struct {
	cells []aliasCell

	sum  sync.Once
	ends []uint64 // see cumulative
}

// An aliasCell holds one of n equal parts of the probability, in 2^32 parts: the
// cell's own number has accept parts, other has the rest. Table relies on their order.
type aliasCell struct {
	accept uint32
	other  uint32
}

// NewAlias makes the table of n weights, which need not sum to one. Errors: no
// weights; weights that are all zero; a weight that is negative, infinite or not
// a number.
func NewAlias(weights []float64) (*Alias, error) {
	left, err := wholeWeights(weights)
	if err != nil {
		return nil, err
	}
	// A number with less than a full cell gives the rest of its cell to a number
	// with more. The scaled weights sum to exactly n cells. So when no weight is
	// below a cell, all that remain are exactly full.
	const full = 1 << 32
	cells := make([]aliasCell, len(weights))
	var small, large []uint32
	for i, s := range left {
		cells[i] = aliasCell{other: uint32(i)} // full: accept or not, it is i
		if s < full {
			small = append(small, uint32(i))
		} else if s > full {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		cells[i] = aliasCell{accept: uint32(left[i]), other: j}
		left[j] -= full - left[i]
		if left[j] <= full {
			large = large[:len(large)-1]
			if left[j] < full {
				small = append(small, j)
			}
		}
	}
	return &Alias{cells: cells}, nil
}

// wholeWeights scales the weights to whole numbers that sum to exactly
// len(weights)·2^32.
func wholeWeights(weights []float64) ([]uint64, error) {
	n := len(weights)
	if n == 0 {
		return nil, fmt.Errorf("alias table: no weights")
	}
	if uint64(n) > math.MaxUint32 {
		return nil, fmt.Errorf("alias table: %d weights, more than 32 bits can number", n)
	}
	largest := 0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("alias table: weight %d is %v; it must be finite and at least 0", i, w)
		}
		if w > weights[largest] {
			largest = i
		}
	}
	// Dividing by the largest first keeps the sum finite for any weights.
	scale := weights[largest]
	if scale == 0 {
		return nil, fmt.Errorf("alias table: all %d weights are zero", n)
	}
	var sum float64
	for _, w := range weights {
		sum += w / scale
	}
	whole := uint64(n) << 32
	scaled := make([]uint64, n)
	var total uint64
	for i, w := range weights {
		scaled[i] = uint64(math.Round(w / scale / sum * float64(whole)))
		total += scaled[i]
	}
	// The largest weight takes the rounding errors, at most one part each: it has
	// 2^32 parts or more. A negative difference is right modulo 2^64.
	scaled[largest] += whole - total
	return scaled, nil
}

// Len returns the number of weights.
func (a *Alias) Len() int { return len(a.cells) }

// Draw maps 32 random bits to a number. The upper 32 bits of the product random·n
// choose the cell, the lower 32 bits choose between its two numbers. The
// probability of a number is off by at most about 2^-32 for each cell that holds it.
func (a *Alias) Draw(random uint32) uint32 {
	cell, low := bits.Mul32(random, uint32(len(a.cells)))
	c := a.cells[cell]
	// No processor can predict the choice. In this order the compiler makes it a
	// conditional move.
	drawn := c.other
	if low < c.accept {
		drawn = cell
	}
	return drawn
}

// Table returns the table in the form of the CUDA kernels, 2n numbers: at 2c the
// bound below which the lower 32 bits choose cell c's own number, at 2c+1 the
// other number. It is the Alias's own; do not change it.
func (a *Alias) Table() []uint32 {
	return unsafe.Slice(&a.cells[0].accept, 2*len(a.cells))
}

const (
	// golden is 2^64 divided by the golden ratio. Its multiples, modulo 2^64, cover
	// all numbers evenly, however many they are.
	golden = 0x9E3779B97F4A7C15

	// MaxSpread is the most numbers that DrawSpread draws at once.
	MaxSpread = 1024
)

// DrawSpread draws H = len(dst) numbers for step 0 or 1 of an iteration. H is at most
// [MaxSpread]. The numbers are spread over the whole distribution, one for each of H parts of
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
