package settings

import (
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/sequential/composed"
	"github.com/w2vcl/w2vcl/subword"
)

// unseenMean is how much of the mean of their n-grams' vectors unseen words get in a
// sentence-ordered mode, beside what is the same for all: with all of it they lie too
// far from words of the text, which have C as well (benchmarks/tried/earlier.md).
const unseenMean = 0.7

// composedContexts is X of composed rows, 0 of others. More is better for semantic
// questions, and worse for syntactic ones and for rare words. Long vectors want more of
// it (benchmarks/2026-11-22-h200-ngram-quality).
func composedContexts(c *Config) float64 {
	if c.HasEncoder() {
		return readable(min(1, 0.7*math.Cbrt(float64(c.Dim)/100)))
	}
	return 0
}

// Composition returns how words are composed as means of the parameters of an encoder, which training
// changes; nil if there is no encoder, or a network.
func (c *Config) Composition(e subword.Encoder) (*composed.Composition, error) {
	if e == nil || slices.Contains(spelt, c.Subword) {
		return nil, nil
	}
	s, err := subword.StructureOf(e)
	if err != nil {
		return nil, err
	}
	parameters := e.Parameters() // the words' own vectors come last
	x := &composed.Composition{
		Dim: c.Dim, Starts: s.Starts, Symbols: s.Symbols, Parts: parameters[0].Value.Float32s(),
		Rate: float32(s.Rate), Most: composed.Most(c.Device != DeviceCPU), Randomize: e.Randomize,
	}
	if s.Sizes != nil {
		x.Starts, x.Symbols = onceEach(s.Starts, s.Symbols, s.Sizes)
		x.Sizes = s.Sizes
	}
	if s.Words {
		x.Own = parameters[len(parameters)-1].Value.Float32s()
	}
	return x, nil
}

// onceEach returns lists in which a symbol of size n stands once for n times that it stood there.
func onceEach(starts, symbols, sizes []uint32) (fewerStarts, fewer []uint32) {
	seen := make([]uint32, len(sizes))
	fewerStarts = make([]uint32, 1, len(starts))
	for w := range len(starts) - 1 {
		list := symbols[starts[w]:starts[w+1]]
		for _, g := range list {
			if seen[g]%sizes[g] == 0 {
				fewer = append(fewer, g)
			}
			seen[g]++
		}
		for _, g := range list {
			seen[g] = 0
		}
		fewerStarts = append(fewerStarts, uint32(len(fewer)))
	}
	return fewerStarts, fewer
}
