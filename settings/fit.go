package settings

import (
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// uses is how often training uses a context of the text if --positives follows from
// the text: less leaves frequent words undertrained, more makes rare ones repeat what
// little they have (benchmarks/2026-11-22-h200-tempered-recipe).
const uses = 16

// stretchWords is the usual size of a stretch, in words. Smaller ones score a little higher, but an iteration
// costs something beside its words, and larger ones fill a GPU.
const stretchWords = 45_000

// longVectors returns how many positives an iteration of vectors of some dimension has
// at most: what long vectors gain from more uses of frequent words they lose on rare
// ones, and more iterations want fewer (benchmarks/2026-11-22-h200-tempered-runs).
func longVectors(dim, contexts int) float64 {
	return max(1600/float64(max(dim, 1)), 5) * math.Sqrt(4096/float64(max(contexts, 1)))
}

// FitText sets the passes and positives of mode cl that are 0: they follow from the
// text, of which v is the vocabulary. Then M holds enough different samples, and
// training uses each context of the text about 16 times, with long vectors less often.
//
// A short text is subsampled more often, for its contexts are few: 5 passes for 17
// million words, 20 at most.
//
// The stretches of model cbow have 45,000 words, or all of a shorter text, if --batch is 0.
func (c *Config) FitText(v *corpus.Vocabulary) {
	m := c.FindMode()
	if onStretches(m) && c.Batch == 0 {
		kept := wordcontext.KeptFraction(v, c.Sample) * float64(v.Total())
		c.Batch = int(min(max(kept, 1), stretchWords))
	}
	if !largeBatch(m) {
		return
	}
	if c.Passes == 0 {
		c.Passes = int(min(max(math.Round(5*math.Sqrt(17e6/float64(v.Total()))), 1), 20))
		if c.everyPassIsTheSame() {
			c.Passes = 1
		}
	}
	if c.Positives == 0 {
		o, contexts := c.MatrixOptions(), 0.0
		o.Passes = 1
		for _, n := range wordcontext.EstimateContexts(v, o) {
			contexts += n
		}
		positives := uses * contexts / (float64(c.Contexts) * float64(v.Len()))
		most := min(16, longVectors(c.Dim, c.Contexts), float64(c.MaxPositives))
		c.Positives = readable(min(max(positives, 0.25), most))
	}
}

// everyPassIsTheSame reports whether nothing is drawn in a pass over the text.
func (c *Config) everyPassIsTheSame() bool { return c.Sample == 0 && !c.DynamicWindow }
