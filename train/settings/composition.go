package settings

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
)

// unseenMean is how much of the mean of their n-grams' vectors unseen words get, beside what is the same for all: with all of it they lie too
// far from words of the text, which have C as well (benchmarks/tried/earlier.md).
const unseenMean = 0.7

// composedContexts is X of composed rows, 0 of others. More is better for semantic
// questions, and worse for syntactic ones and for rare words. Long vectors want more of
// it (benchmarks/subwords).
func composedContexts(c *Config) float64 {
	if c.HasEncoder() {
		return readable(min(1, 0.7*math.Cbrt(float64(c.Dim)/100)))
	}
	return 0
}

// FitsUnseen reports whether n-grams are fitted to the trained vectors, for words that the text does not have.
func (c *Config) FitsUnseen() bool { return c.Unseen == unseenRegress }

// ComposesRows reports whether words are composed as means of n-grams, not by a network.
func (c *Config) ComposesRows() bool { return c.Subword == SubwordNGram }

// Composition returns how words are composed as means of n-grams, which training changes; nil if they are not.
func (c *Config) Composition(e subword.Trained) *composed.Composition {
	n, ok := e.(*subword.NGrams)
	if !ok {
		return nil
	}
	x := n.Composition()
	x.Rate, x.Most = float32(c.SubwordLR), c.mostUndamped()
	return x
}

// mostUndamped returns composed.Composition.Most. With 32 pWord2Vec diverges on a GPU at dim 100, in the first blocks of
// a run: the mean of W goes too far before C follows. With 16 it does not in a simulation, and 8 are half of that
// (benchmarks/speed-gpu).
func (c *Config) mostUndamped() float32 {
	if c.Device != DeviceCPU && c.Mode == string(sequential.PWord2Vec) {
		return 8
	}
	return composed.Most(c.Device != DeviceCPU)
}
