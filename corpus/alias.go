package corpus

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"unsafe"
)

// An Alias draws numbers 0 ... n-1 with given probabilities, each in constant time
// (the alias method: Walker, ACM TOMS 3(3), 1977; its table in linear time: Vose,
// IEEE TSE 17(9), 1991), or many that are spread evenly (spread.go). Its probabilities
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
