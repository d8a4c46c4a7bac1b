// Package cl trains W2V-CL on a GPU: step 1 of an iteration updates the rows of W, step 2 the
// rows of C, each with its optimizer. Without the build tag gpu it has the configuration
// only.
//
// Start with Config, then with cl.cu, which defines a step, and with New.
// cl_bulk.cu is the same step for Hopper, cl_half.cu the same with 16-bit precision, and
// columns.cu draws the columns of M that steps train on. Package subword (kernels/cuda/subword)
// trains step 1 in another way.
package cl

// SeriesLength is how many iterations a GPU is handed at a time, at most.
const SeriesLength = 32

// Config is the configuration of Kernels.
type Config struct {
	Rows, Dim, Negatives int      // V, N, K
	Seed                 uint64   // of the negatives
	Alias                []uint32 // of the negatives: corpus.Alias.Table, two values a row

	// The optimizer, as optim.Config has it, with its defaults applied.
	Method                             string
	Beta1, Beta2, Epsilon, WeightDecay float64

	// HalfPrecision stores frozen rows and moments in 16 bits: see cl_half.cu.
	HalfPrecision bool
}

// A Matrix is M as it is stored: a wordcontext.Matrix.
type Matrix interface {
	// Layout returns the ids of row i in offsets[i]:offsets[i+1] of narrow or of wide; the
	// other is nil. lengths and phases are those of the rows.
	Layout() (offsets []uint64, narrow []uint16, wide, lengths, phases []uint32)
	Contexts() int // l
	Seed() uint64  // of the order in which rows repeat their ids
}
