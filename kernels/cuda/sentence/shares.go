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
// (benchmarks/2026-11-21-h200-fullw2v-shares).
const (
	soundCopies  = 8
	soundRadius  = 3
	soundOutputs = 135
)

// shares returns for every word the part of a sentence's change that is added to its row.
func (c *Config) shares() []float32 {
	kept, drawn := c.kept(), c.drawn()
	outputs := 0.0 // windows at a time that have the same output
	for w, p := range kept {
		outputs = max(outputs, float64(c.InFlight)*(p+float64(c.Negatives)*drawn[w]))
	}
	radius, held := float64(c.Radius), float64(2*c.Radius+1) // words that a sentence has copies of
	if c.Mode.Dynamic() {
		radius = (radius + 1) / 2 // the mean
	}
	if c.Mode == PARW2V {
		held = max(held, float64(c.Batch))
	}
	strain := max(1, radius/soundRadius) * max(1, outputs/soundOutputs)
	most := max(1, soundCopies/(strain*strain*strain))
	shares := make([]float32, c.Vocabulary)
	for w, p := range kept {
		holds := -math.Expm1(held * math.Log1p(-p)) // a sentence's windows have the word
		shares[w] = float32(min(1, most/(float64(c.InFlight)*holds)))
	}
	return shares
}

// Rows of C are read a window before what it changes is added, and many windows at a time have the
// same negatives. soundLoad is how many pairs of pWord2Vec may change the row of one word at a
// time, with windows of radius soundRadius on average and five negatives: so many are stable at
// word2vec's rate. It falls with wider windows and more negatives. FULL-W2V has flatter negatives,
// and the others train one pair or one mean at a time, or need no bound
// (benchmarks/2026-11-22-h200-sequential).
const soundLoad = 825

// sound returns how many sentences may be in flight at most, by their negatives.
func (c *Config) sound() int {
	if c.Mode != PWord2Vec {
		return MaxInFlight
	}
	kept, drawn := c.kept(), c.drawn()
	load := 0.0 // of one sentence
	for w, p := range kept {
		load = max(load, (p+float64(c.Negatives)*drawn[w])*float64(c.Radius+1))
	}
	strain := max(1, float64(1+c.Negatives)/6) * max(1, float64(c.Radius+1)/2/soundRadius)
	return max(1, int(soundLoad/strain/max(load, 1e-9)))
}

// kept returns how often each word is among those that subsampling leaves.
func (c *Config) kept() []float64 {
	kept := make([]float64, c.Vocabulary)
	total := 0.0
	for w, n := range c.Counts {
		kept[w] = float64(n) * (float64(c.Keep[w]) + 1) / (1 << 32)
		total += kept[w]
	}
	for w := range kept {
		kept[w] /= max(total, 1)
	}
	return kept
}

// drawn returns how often each word is drawn as a negative.
func (c *Config) drawn() []float64 {
	drawn := make([]float64, c.Vocabulary)
	for w := range drawn {
		accept, other := float64(c.Alias[2*w])/(1<<32), c.Alias[2*w+1]
		drawn[w] += accept / float64(c.Vocabulary)
		drawn[other] += (1 - accept) / float64(c.Vocabulary)
	}
	return drawn
}
