package sequential

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Options are the settings that all algorithms share, and a few options of some.
// The comments say what a zero value of Model, Threads and the options stands for;
// the rest must be set.
type Options struct {
	Algorithm Algorithm
	Model     Model // zero: SkipGram; others only with algorithms that list them

	// HierarchicalSoftmax predicts words by their paths in a Huffman tree, without negatives.
	// Only Hierarchical algorithms have it.
	HierarchicalSoftmax bool

	Dim       int     // N, values of a word vector
	Window    int     // W, words on either side at most
	Negatives int     // K, negatives of each window, or pair
	Sample    float64 // subsampling threshold of frequent words; 0: none
	Epochs    int     // passes over the text
	RunTokens int     // about how many tokens are trained, if training ends before the epochs do; zero: it does not
	Unit      int     // tokens of a unit; zero: they follow from the length of the run
	Seed      uint64  // of everything random
	Threads   int     // zero: all processors

	PairByPair bool // FullW2V: pairs of a window one after the other, as in the published code

	Combine int // PSGNScc: C, windows of a product at most; zero: DefaultCombine
	Span    int // PSGNScc: T, words among which windows are combined, at most; zero: DefaultSpan
	Batch   int // PARW2V: B, words that share negatives; zero: DefaultBatch

	Part Part // of a longer text; zero: the text is whole
	Sync Sync // of several GPUs or ranks that share the text; Trainer is one and does not look

	// Composition says how the rows of W are composed, in algorithms that have it; nil: they are
	// a table of their own. What changes in a word's row goes to its parts when the words of Block
	// tokens have been trained: zero stands for DefaultBlock, and a number above a unit's for the
	// unit, which is what a GPU has.
	Composition *composed.Composition
	Block       int

	// Start, if not nil, writes the rows that training goes on from over those of a new W and C, (V, N). Reset calls it. W is nil
	// if it is composed, C if it is not trained.
	Start func(words, contexts []float32)

	Account *trainer.Account // gives the memory; may be nil
	Idle    bool             // the tables belong to a device: they are zeros until Reset, and Advance returns an error
}

// withDefaults returns the options with its zero values replaced, or the
// error of an impossible value.
func (c Options) withDefaults() (Options, error) {
	c.Model = cmp.Or(c.Model, SkipGram)
	d, err := Find(c.Algorithm)
	if err != nil {
		return c, err
	}
	if c.Idle {
		c.Threads = 1
	}
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	c.Combine = cmp.Or(c.Combine, DefaultCombine)
	c.Span = cmp.Or(c.Span, DefaultSpan)
	c.Batch = cmp.Or(c.Batch, DefaultBatch)
	c.Block = cmp.Or(c.Block, max(min(DefaultBlock, blocksTokens/c.Threads), 1))
	if c.HierarchicalSoftmax {
		c.Negatives = cmp.Or(c.Negatives, 1) // which nobody draws
	}
	for _, x := range []struct {
		name  string
		value int
	}{
		{"dimension", c.Dim}, {"window", c.Window}, {"number of negatives", c.Negatives},
		{"number of epochs", c.Epochs}, {"number of threads", c.Threads},
		{"number of combined windows", c.Combine}, {"span", c.Span}, {"batch", c.Batch}, {"block", c.Block},
	} {
		if x.value < 1 {
			return c, fmt.Errorf("%s is %d; it must be at least 1", x.name, x.value)
		}
	}
	switch {
	case !d.trains(c.Model):
		return c, fmt.Errorf("algorithm %s has no model %q", c.Algorithm, c.Model)
	case c.HierarchicalSoftmax && !d.Hierarchical:
		return c, fmt.Errorf("algorithm %s has no hierarchical softmax", c.Algorithm)
	case !(c.Sample >= 0):
		return c, fmt.Errorf("subsampling threshold is %v; it must be 0 or more", c.Sample)
	case c.Composition != nil && !d.Composes:
		return c, fmt.Errorf("algorithm %s cannot train vectors that are composed of parts", c.Algorithm)
	case c.Composition != nil && c.Composition.Dim != c.Dim:
		return c, fmt.Errorf("vectors of dimension %d are composed of parts of dimension %d", c.Dim, c.Composition.Dim)
	case c.Window > maxWindow:
		return c, fmt.Errorf("window is %d; it must be at most %d", c.Window, maxWindow)
	}
	return c, nil
}

// The values of the published codes.
const (
	DefaultCombine = 8
	DefaultSpan    = 500_000
	DefaultBatch   = 24
)

// DefaultBlock is how many tokens are trained before the parts of their words learn of it. Longer
// blocks are hardly faster, for the number of different words grows nearly as fast. All threads
// together have blocksTokens under way at most.
const (
	DefaultBlock = 1 << 13
	blocksTokens = 1 << 16
)

// maxWindow is far beyond useful windows and keeps memory in bounds.
const maxWindow = 1000
