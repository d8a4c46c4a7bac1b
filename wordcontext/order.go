package wordcontext

import (
	"math/bits"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A roundOrder is the pseudo-random order in which one round of a short row reads
// its n stored contexts: a permutation of 0 ... n-1. It is keyed by
//
//	Philox(seed, StreamDuplicate.Sub(round), row·2^32 + 0, 1, ...)
//
// The blocks of a text in a pass are in such an order, too (stretches.go), with a stream of their own.
//
// For n <= smallOrder the order is a table, every permutation equally likely.
//
// For larger n it is a bijection of the b-bit numbers, where 2^b is the smallest
// power of two that is at least n. The bijection is repeated until the result is
// below n (cycle walking): at most twice on average. Two kinds of steps take
// turns in it:
//
//	x = x·key + key mod 2^b              carries low bits to high bits
//	x = x xor hash(key, high bits of x)  carries high bits to low bits
//
// Each step can be undone, the first because its factor is odd. Four of the first
// and three of the second are the fewest with which pairs of positions passed
// chi-square tests on 1.5 million keys. The package's tests use fewer keys.
type roundOrder struct {
	n     uint32
	table [smallOrder]uint8 // if n <= smallOrder

	bijection simd.Bijection // of numbers of b bits, if n > smallOrder
}

const smallOrder = 64

// positionsPerFill is how many positions are computed together, at most.
const positionsPerFill = 256

// Set makes o the order of n contexts, n > 0: of a row, in the round that the stream names.
func (o *roundOrder) Set(seed uint64, round corpus.Stream, row, n uint32) {
	random := func(counter uint32) (a, b uint64) {
		r := corpus.Philox(seed, round, uint64(row)<<32|uint64(counter))
		return uint64(r[1])<<32 | uint64(r[0]), uint64(r[3])<<32 | uint64(r[2])
	}
	o.n = n
	if n <= smallOrder {
		o.setTable(random)
		return
	}
	all := uint32(1)<<bits.Len32(n-1) - 1 // b bits
	b := &o.bijection
	b.Low = 1<<((bits.Len32(all)+1)/2) - 1
	b.High = all &^ b.Low
	b.Keys[0], b.Keys[1] = random(0)
	b.Keys[2], b.Keys[3] = random(1)
	for k := range b.Keys {
		b.Keys[k] |= 1
	}
}

// setTable shuffles the table (Fisher-Yates). Six draws share 64 random bits: each
// draw multiplies the fraction that the draw before left. The bias is below 2^-28.
func (o *roundOrder) setTable(random func(counter uint32) (a, b uint64)) {
	for k := range o.table {
		o.table[k] = uint8(k)
	}
	last := o.n - 1
	draw := func(fraction uint64) {
		for k := 0; k < 6 && last > 0; k++ {
			var x uint64
			x, fraction = bits.Mul64(fraction, uint64(last+1))
			a, b := &o.table[last%smallOrder], &o.table[x%smallOrder]
			*a, *b = *b, *a
			last--
		}
	}
	for counter := uint32(0); last > 0; counter++ {
		a, b := random(counter)
		draw(a)
		draw(b)
	}
}

// At returns the number of the stored context at position p of the round, p < n.
func (o *roundOrder) At(p uint32) uint32 {
	var x [1]uint32
	o.Fill(x[:], p)
	return x[0]
}

// Fill sets dst[k] to At(first+k). dst has at most Positions elements.
func (o *roundOrder) Fill(dst []uint32, first uint32) {
	if o.n <= smallOrder {
		for k, x := range o.table[first:][:len(dst)] {
			dst[k] = uint32(x)
		}
		return
	}
	for k := range dst {
		dst[k] = first + uint32(k)
	}
	o.bijection.Scramble(dst)
	// The processor cannot predict whether a number is below n, and a wrong guess
	// costs more than the bijection. So no branch depends on it: the numbers that are
	// not below n are collected, and go through the bijection together.
	var again [positionsPerFill]uint8 // their indices into dst
	var numbers [positionsPerFill]uint32
	limit, count := o.n-1, 0
	for k, x := range dst {
		again[count%positionsPerFill] = uint8(k)
		count += int((limit - x) >> 31) // adds 1 if x >= n; both are below 2^31
	}
	for count > 0 {
		walk := numbers[:count]
		for j, k := range again[:count] {
			walk[j] = dst[k]
		}
		o.bijection.Scramble(walk)
		count = 0
		for j, x := range walk {
			k := again[j]
			dst[k] = x
			again[count%positionsPerFill] = k
			count += int((limit - x) >> 31)
		}
	}
}
