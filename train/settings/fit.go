package settings

import (
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// uses is how often training uses a context of the text if --positives follows from
// the text: less leaves frequent words undertrained, more makes rare ones repeat what
// little they have (benchmarks/recipes).
const uses = 16

// sampleOfText is a threshold of subsampling that follows from the text, see [Config.FitText].
const sampleOfText = -1

// fitStretches sets the threshold of subsampling, the words of a stretch and the iterations for a text.
//
// Subsampling leaves a word that occurs 800 times nearly as it is, and of a word that occurs n times about the root of 800 n; 1,600 where windows
// are weighted by position: then frequent words, which are function words, tell more.
// So a short text keeps its words. A stretch of a short text is a hundredth of what is left, but not below 1,000 words. With the
// threshold and the stretches of 17 million words, scores are .344 instead of .401 on the State of the Union addresses, 1.8 million words, and
// .449 instead of .471 on 1.7 million words of Wikipedia (benchmarks/recipes).
//
// A short text has 1,024 iterations, ten passes over what is left: twice as many score less on 1 to 10 MB, and .002 more on 30 MB. A
// long text has twice as many iterations.
//
// Long vectors take smaller stretches and twice as many: semantic questions gain .02. Windows weighted by position take as many smaller ones:
// scores are the same, and the time that of plain means. Both were measured on 18,116 words of Wikipedia, and are not done where a stretch would have
// less than a place for each word, because each iteration passes over most of the tables.
func (c *Config) fitStretches(v *corpus.Vocabulary) {
	const rarest, fewest, parts, passes = 1e-5, 1000, 100, 48
	const short, long, wordsOfOne = 1024, 2048, 3500 // iterations, and how many words of the text are for each
	often := 800.0
	if c.trains(byPosition) {
		often = 1600
	}
	if c.Sample == sampleOfText {
		c.Sample = max(readable(often/float64(v.Total())), rarest)
		if c.Sample >= 1 {
			c.Sample = 0
		}
	}
	kept := wordcontext.KeptFraction(v, c.Sample) * float64(v.Total())
	words, iterations := 45_000.0, min(max(kept/wordsOfOne, short), long)
	fewer := c.Dim > longDim || c.trains(byPosition)
	if smaller := 30_000.0; fewer && c.HasEncoder() && float64(v.Len()) <= smaller && smaller <= kept/parts {
		words = smaller
		if c.Dim > longDim {
			iterations *= 2
		}
	}
	if c.Batch == 0 {
		c.Batch = int(max(min(max(kept/parts, fewest), words, kept), 1))
	}
	if c.Iterations == 0 {
		c.Iterations = int(min(max(passes*kept/float64(c.Batch), 1), iterations))
		if c.stretchesInEpochs() {
			c.Iterations = int(min(max(math.Round(float64(c.Epochs)*float64(v.Total())/c.iterationWords(v)), 1), endlessIterations))
		}
	}
}

// stretchesInEpochs reports whether --epochs says how long mode cl trains on stretches.
func (c *Config) stretchesInEpochs() bool { return c.in(Stretches) && c.Epochs > 0 }

// longVectors returns how many positives an iteration of vectors of some dimension has
// at most: what long vectors gain from more uses of frequent words they lose on rare
// ones, and more iterations want fewer (benchmarks/recipes).
func longVectors(dim, contexts int) float64 {
	return max(1600/float64(max(dim, 1)), 5) * math.Sqrt(4096/float64(max(contexts, 1)))
}

// FitText sets the passes of mode cl, and its positives if they are 0: they follow from the
// text, of which v is the vocabulary. Then M holds enough different samples, and
// training uses each context of the text about 16 times; what positives may be at most falls with the dimension.
//
// A short text is subsampled more often, for its contexts are few: 5 passes for 17
// million words, 20 at most.
//
// Models positional and cbow: see fitStretches.
//
// A budget becomes iterations or epochs.
func (c *Config) FitText(v *corpus.Vocabulary) {
	defer c.fitBudget(v)
	if c.in(Stretches) {
		c.fitStretches(v)
	}
	if !c.in(LargeBatch) {
		return
	}
	c.Passes = 1
	if !c.everyPassIsTheSame() && !c.IsPublished() {
		c.Passes = int(min(max(math.Round(5*math.Sqrt(17e6/float64(v.Total()))), 1), 20))
	}
	if c.Positives == 0 {
		o, contexts := c.MatrixOptions(), 0.0
		o.Passes = 1
		for _, n := range wordcontext.EstimateContexts(v, o) {
			contexts += n
		}
		positives := uses * contexts / (float64(c.Contexts) * float64(v.Len()))
		most := min(16, longVectors(c.Dim, c.Contexts))
		c.Positives = readable(min(max(positives, 0.25), most))
	}
}

// everyPassIsTheSame reports whether nothing is drawn in a pass over the text.
func (c *Config) everyPassIsTheSame() bool { return c.Sample == 0 && !c.DynamicWindow }
