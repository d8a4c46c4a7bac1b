//go:build gpu

package sentence

import "math"

// A sentence works on copies of its context words' rows, each from the window where the word
// enters to the window where it leaves. Then the change of the copy is added to the row, so
// nothing is lost. But 1,584 sentences hold some fifty copies of a frequent word. Each copy
// takes its step without the others, and all steps together are too long: W and C of the most
// frequent words drive each other up, and training diverges. So only a number of copies add
// all of their change; if a word has more copies, they add as much as that number would.
//
// soundCopies are stable with windows of radius soundRadius and the most frequent word among
// the outputs of soundOutputs windows at a time. That is so on 17 million words of Wikipedia
// with the settings of word2vec, up to a learning rate of 0.035. Of wider windows or more
// outputs fewer copies are stable
// (benchmarks/tried/earlier.md).
const (
	soundCopies  = 8
	soundRadius  = 3
	soundOutputs = 135
)

// frequencies say how often each word is among those that subsampling leaves, and how often it is drawn as a negative.
type frequencies struct {
	kept  func(word int) float64
	drawn []float64
}

func (c *Options) frequencies() frequencies {
	left := func(word int) float64 { return float64(c.Counts[word]) * (float64(c.Keep[word]) + 1) / (1 << 32) }
	total := 0.0
	for w := range c.Vocabulary {
		total += left(w)
	}
	total = max(total, 1)
	return frequencies{func(word int) float64 { return left(word) / total }, c.drawn()}
}

// shares returns for every word the part of a sentence's change that is added to its row of W;
// more than 1 stands for 1. FULL-Register's copies of a row last for one window.
func (c *Options) shares(f frequencies) func(word int) float32 {
	outputs := 0.0 // windows at a time that have the same output
	for w, drawn := range f.drawn {
		outputs = max(outputs, float64(c.InFlight)*(f.kept(w)+float64(c.Negatives)*drawn))
	}
	radius, held := float64(c.Radius), float64(2*c.Radius+1) // words that a sentence has copies of
	copies := float64(soundCopies)
	switch {
	case c.Mode == PARW2V:
		held = max(held, float64(c.Batch))
	case c.Mode == FullRegister:
		copies *= held
	}
	if c.Mode.Dynamic() {
		radius = (radius + 1) / 2 // the mean
	}
	strain := max(1, radius/soundRadius) * max(1, outputs/soundOutputs)
	most := max(1, copies/(strain*strain*strain))
	return func(word int) float32 {
		holds := -math.Expm1(held * math.Log1p(-f.kept(word))) // a sentence's windows have the word
		return float32(most / max(float64(c.InFlight)*holds, 1e-9))
	}
}

// Rows of C are read before what changes them is added: a window earlier, or in PAR-Word2Vec while
// the eight negatives before meet their batch. Many sentences have the same frequent words among
// their outputs meanwhile. So only so many pairs change the row of one word at a time: of words
// that more pairs meet, less of the changes is added, of positives and negatives alike. soundLoad
// of them are stable with windows of radius soundRadius on average and five negatives, at
// soundRate. The number falls with wider windows, more negatives, and the third power of the
// rate. Skip-gram and CBOW train one pair or one mean at a time and need no bound
// (benchmarks/quality).
const soundLoad = 825

// soundRate is the learning rate that shares are for. A higher one leaves less of those of W in
// proportion.
const soundRate = 0.025

// repelledAtOnce is how many negatives of PAR-Word2Vec are read and not yet added to.
const repelledAtOnce = 16

// contextShares returns for every word the part of a change that is added to its row of C at
// soundRate; more than 1 stands for 1.
func (c *Options) contextShares(f frequencies) func(word int) float32 {
	radius := float64(c.Radius)
	if c.Mode.Dynamic() {
		radius = (radius + 1) / 2 // the mean
	}
	strain := max(1, float64(1+c.Negatives)/6) * max(1, radius/soundRadius)
	return func(word int) float32 {
		load := 2 * radius * (f.kept(word) + float64(c.Negatives)*f.drawn[word]) // of another sentence
		if c.Mode == PARW2V {
			load = float64(repelledAtOnce*c.Batch) * f.drawn[word]
		}
		return float32(soundLoad / strain / max(float64(c.InFlight-1)*load, 1e-9))
	}
}

// least returns the smallest share of a word.
func (c *Options) least(shares func(word int) float32) float32 {
	least := float32(math.MaxFloat32)
	for w := range c.Vocabulary {
		least = min(least, shares(w))
	}
	return least
}

// sharesContexts reports whether rows of C have shares.
func (c *Options) sharesContexts() bool { return c.Mode != Word2Vec && c.Mode != CBOW }

// apart is how many stretches of the text are trained side by side: see Turn in sentence.cuh. All
// modes score more on analogies with one for each sentence in flight, but FULL-W2V no more than
// two seeds differ; and it is 5 % faster in the order of the text, whose rare words L2 then has
// (benchmarks/quality).
func (c *Options) apart() int {
	if c.Mode == FullW2V || c.Mode == FullW2VPairs {
		return 1
	}
	return c.InFlight
}

// drawn returns how often each word is drawn as a negative.
func (c *Options) drawn() []float64 {
	drawn := make([]float64, c.Vocabulary)
	for w := range drawn {
		accept, other := float64(c.Alias[2*w])/(1<<32), c.Alias[2*w+1]
		drawn[w] += accept / float64(c.Vocabulary)
		drawn[other] += (1 - accept) / float64(c.Vocabulary)
	}
	return drawn
}
