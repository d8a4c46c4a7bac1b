// Package cl trains W2V-CL on a GPU: step 1 of an iteration updates the rows of W, step 2 the rows of C
// (with CBOW the other way round), each with its optimizer. Without the build tag gpu it has Options
// only.
//
// Start with NewCBOW for the default, CBOW with n-grams, and with New for skip-gram. step.cuh defines a
// step and has kernels for all settings. single.cuh and rounded.cuh say how tables lie in memory,
// dense.cuh computes the products with shared negatives, and meet.cuh says how several GPUs share the
// rows. columns.cu has a faster step for --preset paper, whose dimensions several GPUs share: see
// SplitsRows. samples.cu draws the samples of M, shares.cu finds the rows that have samples. Package
// subword has a step 1 that composes its rows.
//
// # What to know before changing the default step
//
// Package graph lists what holds on every device. Items 2 to 8 of that list hold on GPUs, in other code: rows
// move by optimize (../include/methods.cuh), composed rows are those of ../include/composed.cuh, and sums
// have another fixed order. On GPUs, this holds as well:
//
//  1. An iteration is a list of launches (launches in cbow_kernels.go), on a stretch that was copied during
//     the iteration before (arrivals.go). A kernel may start while the one before it ends: before it calls
//     awaitInputs (stretch.cuh), neither may write what the other reads or writes.
//  2. Gradients are linear in C (stretch.cu). So the negatives of a window are H numbers; they become a
//     row once a word. Products with the H rows have factors of two bfloat16 (dense.cuh).
//  3. Jobs form tiles of eight (tiles.go): each warp has a row, or a piece of its samples. Rows are padded with zeros,
//     which stay zero (../include/rows.cuh).
//  4. Parts are trained by the Gradients of words, in float16 (../subword/subword.cuh). Parts have a copy in
//     float16, which updateRow keeps and compose reads.
package cl

import (
	"github.com/w2vcl/w2vcl/kernels/composed"
)

// SeriesLength is how many iterations a GPU is handed at a time, at most. Fewer are, if the
// samples of so many took more than SeriesBytes.
const (
	SeriesLength = 64
	SeriesBytes  = 256 << 20
)

// Options say what Kernels train, and how.
type Options struct {
	Rows, Dim, Negatives int      // V, N, K
	Seed                 uint64   // of the negatives
	Alias                []uint32 // of the negatives: corpus.Alias.Table, two values a row

	// The optimizer, as optim.Options has it, with its defaults applied.
	Method                             string
	Beta1, Beta2, Epsilon, WeightDecay float64

	// SharedNegatives is H: so many negatives for all rows of a step, each of weight K/H. 0:
	// every row has K of its own.
	SharedNegatives int
	// DrawShared draws them for a step, 0 or 1, of an iteration: corpus.Alias.DrawSpread.
	DrawShared func(dst []uint32, iteration, step int)

	// SameColumn: both steps of an iteration train on the samples of step 1.
	SameColumn bool

	// Shares are the numbers of samples of rows; nil: every row has one in an iteration.
	Shares *Shares

	// HalfPrecision stores frozen rows and moments in 16 bits: see rounded.cuh.
	HalfPrecision bool

	Composition *composed.Composition // of rows of W, for package subword; nil: they are a table or an encoder's

	composed bool // rows of W are composed
}

// Shares say how many samples rows have in an iteration: a wordcontext.Matrix has them.
type Shares struct {
	Contexts        int      // l
	Lengths, Phases []uint32 // l_i and f_i, (V)
	Slots           []uint32 // (V + 1)
}

// iterationBytes is the memory of the lists of an iteration: of the samples of both steps, and of
// the rows that have some.
func iterationBytes(rows, slots int, lists bool) int64 {
	bytes := 2 * 4 * int64(slots)
	if lists {
		bytes += 32 * int64(rows) // jobs
	}
	return bytes
}

// seriesOf returns how many iterations make a series.
func seriesOf(rows, slots int, lists bool) int {
	return int(min(max(SeriesBytes/max(iterationBytes(rows, slots, lists), 1), 1), SeriesLength))
}

// SampleBytes estimates the device's memory for the samples of a series, of some rows and slots
// in an iteration: with lists of the rows that have some, if the kernels are those of step.cuh.
func SampleBytes(rows, slots int, lists bool) int64 {
	bytes := int64(seriesOf(rows, slots, lists))*iterationBytes(rows, slots, lists) + 12*int64(rows) + 4*int64(slots) // beside M: lengths, phases, slots and their rows
	if lists {
		bytes += 32 * int64(rows) // the same, and the fixed jobs
	}
	return bytes
}

// A Matrix is M as it is stored: a wordcontext.Matrix.
type Matrix interface {
	// Layout returns the ids of row i in offsets[i]:offsets[i+1] of narrow or of wide; the
	// other is nil. lengths and phases are those of the rows.
	Layout() (offsets []uint64, narrow []uint16, wide, lengths, phases []uint32)
	Slots() []uint32
	Contexts() int  // l
	Seed() uint64   // of the order in which rows repeat their ids
	Tempered() bool // rows repeat their ids in one order
}
