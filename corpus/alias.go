package corpus

import (
	"fmt"
	"math"
	"math/bits"
)

// An Alias draws numbers 0 ... n-1 with given probabilities, each draw in
// constant time (Walker 1977, in Vose's linear-time form of 1991). It is not
// changed after it was made; any number of goroutines may draw.
//
// The table is built in whole numbers, so it is exact: the columns of the
// table sum to the weights, rounded to multiples of 1/(n·2^32) of their sum,
// and a weight of zero is never drawn.
type Alias struct {
	columns []aliasColumn
}

// An aliasColumn holds one of n equal shares of the probability: its own
// number has accept of 2^32 parts of it, other has the rest.
type aliasColumn struct {
	accept uint32
	other  uint32
}

// NewAlias makes the table of the given weights, which need not sum to one. A
// weight that is negative, infinite or not a number is an error, and so are no
// weights at all and weights that are all zero.
func NewAlias(weights []float64) (*Alias, error) {
	share, err := wholeShares(weights)
	if err != nil {
		return nil, err
	}
	// A number whose share is below that of a column gives its column's rest
	// to one whose share is above. The shares sum to exactly one column each,
	// so when no small one is left, all that remain are exactly full.
	const full = 1 << 32
	columns := make([]aliasColumn, len(weights))
	var small, large []uint32
	for i, s := range share {
		columns[i] = aliasColumn{other: uint32(i)} // full: accept or not, it is i
		if s < full {
			small = append(small, uint32(i))
		} else if s > full {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		columns[i] = aliasColumn{accept: uint32(share[i]), other: j}
		share[j] -= full - share[i]
		if share[j] <= full {
			large = large[:len(large)-1]
			if share[j] < full {
				small = append(small, j)
			}
		}
	}
	return &Alias{columns: columns}, nil
}

// wholeShares scales the weights to whole numbers that sum to exactly
// len(weights)·2^32.
func wholeShares(weights []float64) ([]uint64, error) {
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
			return nil, fmt.Errorf("alias table: weight %d is %v, not a number from 0 up", i, w)
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
	share := make([]uint64, n)
	var total uint64
	for i, w := range weights {
		share[i] = uint64(math.Round(w / scale / sum * float64(whole)))
		total += share[i]
	}
	// The rounding errors, at most one part each, go to the largest: it has at
	// least 2^32 parts. The difference may be negative; modulo 2^64 it is right.
	share[largest] += whole - total
	return share, nil
}

// Len returns the number of weights.
func (a *Alias) Len() int { return len(a.columns) }

// Draw maps 32 random bits to a number. The high half of the 64-bit product
// bits·n picks the column, the low half decides between its two numbers. With
// 32 bits in, the probability of a number is off by at most about 2^-32 for
// each column that holds it.
func (a *Alias) Draw(random uint32) uint32 {
	column, low := bits.Mul32(random, uint32(len(a.columns)))
	c := a.columns[column]
	// Which of the two it is cannot be predicted; in this order the compiler
	// makes it a conditional move.
	drawn := c.other
	if low < c.accept {
		drawn = column
	}
	return drawn
}

// Table returns the table as the CUDA kernels have it: for column c, at 2c and
// 2c+1, the limit below which the low half decides for c itself, and the other
// number.
func (a *Alias) Table() []uint32 {
	table := make([]uint32, 0, 2*len(a.columns))
	for _, c := range a.columns {
		table = append(table, c.accept, c.other)
	}
	return table
}
