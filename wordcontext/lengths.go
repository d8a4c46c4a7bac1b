package wordcontext

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
)

// rowLengths returns l_i of every row: the number of its entries, each of which
// training reads once in an epoch. totals are the n_i.
//
//	a_i = min(MaxPositives, c·n_i^Tempering)
//	l_i = l·a_i, rounded, at least 1; 0 if n_i is 0
//
// c makes Positives the mean of the a_i over the rows with contexts. If Positives is
// more than MaxPositives, every a_i is MaxPositives. Without tempering and with one
// positive, all rows have l entries, also those without contexts.
//
// It returns an error if a row is too long.
func rowLengths(totals []uint64, o *Options) ([]uint32, error) {
	lengths := make([]uint32, len(totals))
	if !o.tempered() {
		for i := range lengths {
			lengths[i] = uint32(o.Contexts)
		}
		return lengths, nil
	}
	limit := math.Inf(1)
	if o.MaxPositives > 0 {
		limit = float64(o.MaxPositives)
	}
	powers := make([]float64, 0, len(totals)) // of the rows with contexts
	for _, n := range totals {
		if n > 0 {
			powers = append(powers, math.Pow(float64(n), o.Tempering))
		}
	}
	c, k := scale(powers, o.Positives, limit), 0
	for i, n := range totals {
		if n == 0 {
			continue
		}
		length := math.Round(float64(o.Contexts) * min(limit, c*powers[k]))
		k++
		if length > maxContexts {
			return nil, fmt.Errorf("row %d of M would have %.0f entries; it can have %d: set fewer contexts, fewer positives or a maximum of positives",
				i, length, maxContexts)
		}
		lengths[i] = max(uint32(length), 1)
	}
	return lengths, nil
}

// scale returns the c with which the numbers min(limit, c·power) have the given
// mean; infinity if the limit is not above the mean. The powers are at least 1.
func scale(powers []float64, mean, limit float64) float64 {
	if mean >= limit || len(powers) == 0 {
		return math.Inf(1)
	}
	var sum, largest float64
	for _, power := range powers {
		sum += power
		largest = max(largest, power)
	}
	want := mean * float64(len(powers))
	c := want / sum
	if c*largest <= limit {
		return c
	}
	// What the limit cuts off, the others get: c is larger than that.
	reached := func(c float64) bool {
		var sum float64
		for _, power := range powers {
			sum += min(limit, c*power)
		}
		return sum >= want
	}
	low, high := c, 2*c
	for !reached(high) {
		low, high = high, 2*high
	}
	for {
		middle := low + (high-low)/2
		switch {
		case middle <= low || middle >= high: // no number is between them
			return high
		case reached(middle):
			high = middle
		default:
			low = middle
		}
	}
}

// setShares computes the phases and the slots of the rows from their lengths. It
// returns an error if there are too many slots.
func (m *Matrix) setShares() error {
	l := uint32(m.Contexts())
	m.phases = make([]uint32, m.Rows())
	m.slots = make([]uint32, m.Rows()+1)
	var bits [4]uint32
	var slots uint64
	for i, length := range m.lengths {
		if i%4 == 0 {
			bits = corpus.Philox(m.options.Seed, corpus.StreamPhase, uint64(i/4))
		}
		m.phases[i] = corpus.Below(bits[i%4], l)
		slots += (uint64(length) + uint64(l) - 1) / uint64(l)
		m.slots[i+1] = uint32(slots)
	}
	if slots > math.MaxUint32 {
		return fmt.Errorf("an iteration would have %d samples; it can have %d: set fewer positives", slots, uint32(math.MaxUint32))
	}
	return nil
}
