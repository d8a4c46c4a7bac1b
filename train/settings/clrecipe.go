package settings

import (
	"cmp"
	"math"
)

// The recipes of mode cl: stretches, tempered and untempered have the numbers.

// stretches sets the defaults of models positional and cbow, unless they were given: found by 229 runs of a prototype and 200 of w2vcl on an H200, on 17
// million words of Wikipedia and on short texts; with position weights by 129 runs (benchmarks/recipes).
//
// All windows have the same number of words: a word moves along the whole change of each window that it is in, which
// agrees with the loss only then. With model cbow and without spelling, wide windows of random widths score higher. In a step of Adam all rows may move in one direction, by the rate times the root of
// the dimension: scores fall where that is above 0.6. Weight decay works by its product with the rate, which is the
// same for all dimensions.
func stretches(c *Config, set given) {
	root := math.Sqrt(float64(max(c.Dim, 1)))
	lr, weightDecay := readable(0.45/root), readable(0.01*root)
	if !c.adaptive() {
		lr, weightDecay = 0.1, 0.01
	}
	window, dynamic, contextWeight := 3, false, 0.2
	if !c.HasEncoder() {
		contextWeight = 0.5
	}
	switch {
	case c.trains(byPosition): // distant words weigh what they are worth
		window = 8
		if c.adaptive() {
			weightDecay = readable(0.014 * root)
		}
	case !c.HasEncoder():
		window, dynamic = 8, true
	case c.Dim > longDim:
		window = 4
	}
	lr, weightDecay = c.ofOptimizer(lr, weightDecay, 0)
	fill(set, "window", &c.Window, window)
	fill(set, "dynamic-window", &c.DynamicWindow, dynamic)
	fill(set, "sample", &c.Sample, sampleOfText)
	fill(set, "batch", &c.Batch, 0) // as sample and iterations, see Config.FitText
	fill(set, "iterations", &c.Iterations, 0)
	fill(set, "negative", &c.Negative, 8)
	fill(set, "shared-negatives", &c.SharedNegatives, 64)
	fill(set, "lr", &c.LR, lr)
	fill(set, "weight-decay", &c.WeightDecay, weightDecay)
	fill(set, "context-weight", &c.ContextWeight, contextWeight)
	fill(set, "decay", &c.Decay, decayLinear)
}

// longDim is the longest of short vectors: composed of spelling, longer ones have room for more than the nearest words say.
const longDim = 150

type clRecipe struct {
	window, contexts     int
	sample               float64
	tempering, positives float64
	negative             int
	shared               int
	lr, weightDecay      float64
	contextWeight        float64
}

// tempered is the recipe of preset tuned: a word has samples in proportion to its
// contexts in the text, several an iteration, and all words share the negatives of a
// step. Positives are 0: they follow from the text, see [Config.FitText]. With
// --iterations, positives are fixed.
// Found by 763 runs on 17 million words of Wikipedia, and 216 on shorter texts
// (benchmarks/recipes).
func tempered(c *Config, set given) clRecipe {
	r := clRecipe{
		window: 4, sample: 1e-4, contexts: 4096,
		tempering: 1, negative: 8, shared: 64,
		contextWeight: 0.25,
	}
	if set["contexts"] != "" {
		r.contexts = c.Contexts
	} else if c.Iterations > 0 {
		r.contexts, r.positives = min(c.Iterations, r.contexts), samplesOfIteration
	}
	iterations := cmp.Or(c.Iterations, c.Epochs*r.contexts)
	r.lr, r.weightDecay = temperedRate(c.Dim, min(iterations, 4*r.contexts)), 0.25
	if c.ComposesRows() { // parts learn at the whole rate, so they decay at it, too (benchmarks/subwords)
		r.weightDecay = 0.12
	}
	if !c.adaptive() {
		r.lr, r.weightDecay = 0.08, 0.012
	}
	return r
}

// samplesOfIteration is how many samples a word has in an iteration, on average, if --iterations says how many there are. Then training
// costs as much as iterations, samples and words tell, however long the text is.
const samplesOfIteration = 5

// temperedRate returns the learning rate of Adam for vectors of some dimension and
// some number of iterations: a step of Adam moves every value by about the rate, so
// scores, which are sums over dim values, move by dim times that; and fewer iterations
// must go further each.
func temperedRate(dim, iterations int) float64 {
	rate := min(max(1.4/float64(max(dim, 1)), 0.0028), 0.01)
	return readable(min(rate*math.Pow(4096/float64(max(iterations, 1)), 0.8), 0.05))
}

// untempered is the recipe of words that all have as many samples, found by 75 runs
// on 17 million words of Wikipedia (benchmarks/tried/earlier.md). Runs that ask
// for equal samples have it.
func untempered(dim int, adaptive, encoder bool) clRecipe {
	r := clRecipe{
		window: 2, sample: 1e-4, contexts: 8192, negative: 5,
		positives: 1, contextWeight: 1,
		lr: 6e-3, weightDecay: 0.06,
	}
	switch {
	case !adaptive:
		r.lr, r.weightDecay = 0.06, 0.01
	case !encoder:
		r.lr, r.weightDecay = clRate(r.lr, r.weightDecay, dim)
	}
	return r
}

// clRate returns Adam's learning rate and weight decay for vectors of some
// dimension, from those for short ones: a step of Adam moves every value by about the
// rate, so scores, which are sums over dim values, move by dim times that. Above 1/dim
// the analogies and rare words of long vectors suffer
// (benchmarks/tried/earlier.md). Weight decay works by its product with the
// rate, which stays as long as decay stays at 0.1 or less.
func clRate(short, decay float64, dim int) (lr, weightDecay float64) {
	lr = min(short, readable(1/float64(max(dim, 1))))
	return lr, max(decay, min(0.1, readable(decay*short/lr)))
}

func clDefaults(c *Config) {
	published := c.IsPublished()
	switch {
	case c.Model != "":
	case published:
		c.Model = ModelSkipGram
	default:
		c.Model = ModelPositional
	}
	c.Shuffle = c.in(LargeBatch)
	switch {
	case c.in(Stretches):
		subwordRecipe(c, c.usualSubword("")) // which the rest follows from
	case published:
		clPaper(c)
	default:
		c.Noise, c.NoiseExponent = noiseMatrix, 1
		c.DynamicWindow, c.Epochs = true, 1
	}
}

// clTuned sets the defaults of preset tuned that follow from dimension, text,
// optimizer and encoder, unless they were given.
func clTuned(c *Config, set given) {
	fill(set, "noise-exponent", &c.NoiseExponent, c.noise().exponent)
	if c.IsPublished() {
		return
	}
	equal := set["tempering"] != "" && set["positives"] != "" && c.Tempering == 0 && c.Positives == 1
	var r clRecipe
	if equal {
		r = untempered(c.Dim, c.adaptive(), c.HasEncoder())
		if set["lr"] != "" { // higher decay goes with the lower rates of long vectors
			r.weightDecay = untempered(1, c.adaptive(), c.HasEncoder()).weightDecay
		}
	} else {
		r = tempered(c, set)
	}
	steps := cmp.Or(c.Iterations, c.Epochs*r.contexts)
	if set["contexts"] != "" {
		steps = c.TotalIterations()
	}
	r.lr, r.weightDecay = c.ofOptimizer(r.lr, r.weightDecay, steps)
	fill(set, "window", &c.Window, r.window)
	fill(set, "contexts", &c.Contexts, r.contexts)
	fill(set, "sample", &c.Sample, r.sample)
	fill(set, "negative", &c.Negative, r.negative)
	fill(set, "tempering", &c.Tempering, r.tempering)
	fill(set, "positives", &c.Positives, r.positives)
	fill(set, "shared-negatives", &c.SharedNegatives, r.shared)
	fill(set, "lr", &c.LR, r.lr)
	fill(set, "weight-decay", &c.WeightDecay, r.weightDecay)
	fill(set, "context-weight", &c.ContextWeight, r.contextWeight)
}

// clPaper is the recipe of the W2V-CL paper's experiments, but for what its preset says.
func clPaper(c *Config) {
	c.Noise, c.NoiseExponent = noiseCounts, 0.75
	c.Contexts, c.Epochs = 65536, 1
	c.Positives = 1
	c.LR, c.Decay = 1e-3, decayNone
	c.LR, _ = c.ofOptimizer(c.LR, 0, c.Contexts)
	if !c.adaptive() {
		c.LR = 0.04
	}
}

// fill sets a value to a default unless it was given.
func fill[T any](set given, name string, value *T, to T) {
	if set[name] == "" {
		*value = to
	}
}
