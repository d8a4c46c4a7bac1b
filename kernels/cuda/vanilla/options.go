// Package vanilla trains W2V-Vanilla on a GPU: minibatches of skip-gram pairs, as graph.Vanilla
// has them. Without the build tag gpu it has Options and the form of minibatches only.
//
// Start with Options and Unit, then with vanilla.cu, which defines a minibatch, and with New. The
// optimizers are in include/methods.cuh.
package vanilla

import "github.com/w2vcl/w2vcl/kernels/cuda/subword"

// Options say what Kernels train, and how.
type Options struct {
	Rows, Dim, Negatives int // V, N, K
	Batch                int // positives of a minibatch at most

	// Encoder composes words; nil: W is a table.
	Encoder *subword.Structure
	// Dense minibatches update every row of both tables, the others those that they hold.
	Dense bool

	// The optimizer, as optim.Options has it, with its defaults applied.
	Method                             string
	Beta1, Beta2, Epsilon, WeightDecay float64
}

// width returns 1+K, the entries of a positive.
func (c Options) width() int { return 1 + c.Negatives }

// mostSegments returns how many segments a minibatch has at most.
func mostSegments(c Options) int {
	entries := c.Batch * c.width()
	words, contexts := min(c.Batch, c.Rows), min(entries, c.Rows)
	return words + contexts + 2*entries/SegmentEntries
}

// Bytes estimates the device's memory that training takes beside tables and moments, for units of
// at most so many positives, and rows of so many bytes.
func (c Options) Bytes(positives int, row int64) int64 {
	losses := 4 * int64(positives/c.Batch+1) * int64(c.Batch/8+1)
	buffers := 2 * (c.unitBytes(positives) + losses) * 3 / 2
	if e := c.Encoder; e != nil { // what Spell appends, of words of twice the mean length
		buffers += 3 * int64(positives) * (48 + 8*int64(len(e.Symbols)/c.Rows))
	}
	return int64(mostSegments(c))*row + 4*int64(c.Batch*c.width()) + 32*int64(c.Rows) + buffers
}
