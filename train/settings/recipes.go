package settings

import (
	"cmp"
	"maps"
	"strconv"

	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
)

// The recipes: every default of every mode and preset, and nothing else. Mode,
// preset and optimizer choose a recipe, because a good learning rate for Adam is
// useless for SGD. What a sentence-ordered mode has to itself stands in its entry
// of sequential.Algorithms.

// Defaults returns the recipe of a mode, preset and optimizer, and of a model of mode cl. An empty name
// means preset tuned, its mode (cl if it has none), optimizer adam, and the model of the mode or the preset's paper.
// [Config.Validate] refuses unknown names.
func Defaults(modeName, preset, optimizer, model string) Config {
	c := Config{
		Run: Run{
			Mode:       cmp.Or(modeName, PresetMode(preset), ModeCL),
			Preset:     cmp.Or(preset, presetTuned),
			Checkpoint: Interval{Seconds: 600, text: "10m"},
		},
		Text:     Text{MinCount: 5, MaxSentence: 1000, Tokenizer: tokenizerWhitespace, Walks: 10, WalkLength: 80, P: 1, Q: 1},
		Samples:  Samples{Dim: 100, Window: 2, Negative: 5},
		Training: Training{Optimizer: cmp.Or(optimizer, string(optim.Adam)), Decay: decayLinear},
		Encoder:  Encoder{Unseen: unseenEncoder},
		Machine:  Machine{Seed: 1, Device: DeviceCPU},
	}
	m := c.FindMode()
	if m.Trains(inIterations) {
		c.Model = model
	}
	if m.Trains(onNegatives) {
		c.Freeze = freezeNone
	}
	if m.Trains(OnGPU) {
		c.Precision = PrecisionFloat32
	}
	if m.Trains(withSubwords) {
		subwordRecipe(&c, SubwordNone)
	}
	switch {
	case m.Family == Minibatch:
		vanillaRecipe(&c)
	case m.Family == SentenceOrdered:
		sequentialRecipe(&c)
	case m.Name == ModePPMI:
		ppmiRecipe(&c)
	case m.Name == ModeGloVe:
		gloVeRecipe(&c)
	default:
		clDefaults(&c)
	}
	c.publish()
	setDependents(&c, nil)
	return c
}

// adaptive reports whether the optimizer's steps are about as large as the
// learning rate, whatever the gradient: such optimizers share Adam's rates, the
// others share the rates of SGD.
func (c *Config) adaptive() bool {
	o, _ := optim.Find(optim.Method(c.Optimizer))
	return o.Adaptive
}

// ofOptimizer turns Adam's learning rate and weight decay in a run of so many steps, or
// of minibatches, 0, into those of an adaptive optimizer. Weight decay works by its
// product with the rate.
func (c *Config) ofOptimizer(lr, weightDecay float64, steps int) (float64, float64) {
	o, _ := optim.Find(optim.Method(c.Optimizer))
	if o.RateFactor == nil {
		return lr, weightDecay
	}
	factor := o.RateFactor(steps)
	return readable(lr * factor), readable(weightDecay / factor)
}

// vanillaRecipe is the baseline. Tuned, it has the text, windows and negatives
// a word of untempered cl. Its moments change only where a minibatch touches them,
// so it wants a higher rate than the whole-table updates of cl. The recipe of papers
// has the rate of the W2V-CL paper, updates every row in every minibatch as
// its baseline does, and counts 1,024 pairs with their negatives as it does (section
// 2.1): 170 positives of 6 pairs.
func vanillaRecipe(c *Config) {
	c.Noise, c.NoiseExponent = noiseCounts, 0.75
	c.Sample, c.DynamicWindow = 1e-4, true
	c.Batch, c.Epochs = 1024, 5
	c.LR, _ = c.ofOptimizer(1e-2, 0, 0)
	if !c.adaptive() {
		c.LR = 0.025
	}
	if c.IsPublished() {
		c.Batch = 1024 / (1 + c.Negative)
		c.LR, _ = c.ofOptimizer(1e-3, 0, 0)
		c.Decay = decayNone
	}
}

// vanillaFollows sets the part of C in the vectors. A quarter gains .02 as in the sentence-ordered modes
// (benchmarks/recipes); nobody tried it with an encoder.
func vanillaFollows(c *Config, set given) {
	x := 0.25
	if c.HasEncoder() {
		x = 0
	}
	fill(set, "context-weight", &c.ContextWeight, x)
}

// sequentialRecipe is the training of word2vec.c and of its published relatives,
// with the algorithm's own values over it. Papers compare algorithms with the same
// values for all.
func sequentialRecipe(c *Config) {
	a, _ := sequential.Find(sequential.Algorithm(c.Mode))
	c.Optimizer = "" // plain gradient descent
	if len(a.Models) > 0 {
		c.Model = string(a.Models[0].Name)
	}
	if c.trains(inBatches) {
		c.Batch = sequential.DefaultBatch
	}
	c.Together = c.trains(atOnce)
	c.CombineRule = string(sequential.DefaultRule)
	c.Window = 5
	c.Noise, c.NoiseExponent = noiseCounts, 0.75
	c.Sample, c.Epochs = 1e-4, 5
	c.LR = 0.025
	if !c.IsPublished() {
		c.NoiseExponent = cmp.Or(a.Recipe.NoiseExponent, c.NoiseExponent)
	}
}

// sequentialFollows sets what follows from a sentence-ordered mode and its model. A
// quarter of C makes vectors better than none or all of it, but CBOW's want all
// (benchmarks/recipes).
func sequentialFollows(c *Config, set given) {
	if a, err := sequential.Find(sequential.Algorithm(c.Mode)); err == nil {
		r := a.RecipeOf(sequential.Model(c.Model))
		fill(set, "lr", &c.LR, cmp.Or(r.LearningRate, c.LR))
		if !c.IsPublished() {
			fill(set, "context-weight", &c.ContextWeight, cmp.Or(composedContexts(c), r.ContextWeight, 0.25))
		}
		if c.HierarchicalSoftmax {
			c.ContextWeight, c.Negative = 0, 0 // C is not trained
		}
	}
	if set["lr-end"] == "" {
		c.LREnd = 0
		if c.Decay == decayLinear {
			c.LREnd = readable(c.LR * 1e-4)
		}
	}
}

// ppmiRecipe follows Levy, Goldberg and Dagan 2015, "Improving Distributional Similarity
// with Lessons Learned from Word Embeddings", section 6.1: smoothed contexts, no shift, W of
// the square root of the singular values, as symmetric as skip-gram's. Windows and
// subsampling are those of the other modes.
func ppmiRecipe(c *Config) {
	c.Optimizer = ""
	c.Window, c.DynamicWindow, c.Sample = 5, true, 1e-4
	c.Negative, c.Shift, c.NoiseExponent = 0, 1, 0.75
	c.Decay = ""
}

// gloVeRecipe begins with the values of Pennington et al. 2014, section 4.2, except those of its preset, which were for
// billions of words. The search with equal effort chose the window, subsampling and the part of C (benchmarks/recipes).
func gloVeRecipe(c *Config) {
	c.Optimizer = ""
	c.Window, c.Negative = 10, 0
	c.Epochs, c.LR, c.Decay = 25, 0.05, decayNone
	c.XMax, c.ContextWeight = 10, 1
	if !c.IsPublished() {
		c.Window, c.Sample, c.ContextWeight = 15, 1e-4, 0.5
	}
}

// subwordRecipe is a good training of an encoder
// (benchmarks/tried/earlier.md; the one for vanilla is older). Parameters
// that all words share get gradients from all of them, so they want a lower rate
// than the words' own vectors: with a higher one, words of similar spelling become
// alike, and the longer one trains the more (see subwordRate). The paper has one
// learning rate, and no vectors of words' own. Its network is that of its authors'
// earlier paper, as their program has it: docs/subword.md.
func subwordRecipe(c *Config, kind string) {
	c.Subword, c.Compose = kind, composeSum
	c.MinGram, c.MaxGram, c.Buckets = 3, 6, 2_000_000
	if c.trains(withOptimizer) {
		c.Gram, c.CharDim, c.Widths, c.Filters, c.MaxChars = Numbers{1}, 32, Numbers{2, 3, 4}, Numbers{64}, 30
		c.Activation, c.Standardize = string(subword.ReLU), true
	}
	switch vanilla := c.Mode == ModeVanilla; {
	case kind == SubwordNone:
	case c.trains(withMeans) && kind == SubwordNGram:
		c.SubwordLR = 1 // fastText's
	case c.IsPublished():
		c.SubwordLR, c.Compose = 1, composeSpelling
		if kind == SubwordCNN {
			c.Gram, c.Widths, c.Filters = Numbers{1, 2, 3, 4, 5}, Numbers{1, 2, 3, 4, 5, 6, 7}, Numbers{50, 100, 150, 200, 200, 200, 200}
			c.Activation, c.Standardize, c.MaxChars = string(subword.Tanh), false, 18
		}
	case kind == SubwordNGram:
		c.SubwordLR = 1
	case !vanilla:
		c.SubwordLR = 0.01
	default:
		c.SubwordLR = 0.05
	}
}

// subwordRate fits the rate of a network, which was tuned for 8,192 iterations,
// to the length of this run: more iterations do to it the same as a higher rate, up to the rate of tables.
func subwordRate(c *Config) {
	factor := 8192 / float64(max(c.TotalIterations(), 1))
	c.SubwordLR = min(readable(c.SubwordLR*factor), 1)
}

// symbolRate is the rate of a CNN of n-grams of several lengths, which has rates by layer: that of its symbols
// (benchmarks/subwords).
const symbolRate = 1

// symbolDim is how many values the embeddings of its symbols have (benchmarks/subwords).
const symbolDim = 128

// readable rounds a computed setting to three digits, for config.toml is read by people.
func readable(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return rounded
}

// Demo returns the settings of `w2vcl demo` with some given ones, for [Resolve]: mode cl with the tuned recipe on the small
// raw text in testdata, which more than 1,024 iterations overfit. At a higher rate than the recipe's, 640 score as high
// (three seeds); with other vectors nobody looked.
func Demo(given map[string]string) map[string]string {
	texts := map[string]string{"mode": ModeCL, "tokenizer": tokenizerWords, "lowercase": "true", "iterations": "1024"}
	if given["dim"] == "" && given["subword"] == "" && given["iterations"] == "" {
		texts["iterations"], texts["lr"] = "640", "0.06"
	}
	maps.Copy(texts, given)
	return texts
}

// setDependents sets the defaults that follow from other settings, unless file, flags or the preset set them.
func setDependents(c *Config, byUser given) {
	set := given(c.publishedFor())
	maps.Copy(set, byUser)
	switch {
	case c.in(Stretches):
		stretches(c, set)
	case c.in(LargeBatch):
		clTuned(c, set)
	case c.in(SentenceOrdered):
		sequentialFollows(c, set)
	case c.in(Minibatch) && !c.IsPublished():
		vanillaFollows(c, set)
	}
	switch {
	case set["subword-lr"] != "" || c.IsPublished():
	case c.layerRates():
		c.SubwordLR = symbolRate
	case c.in(LargeBatch) && c.HasNetwork():
		subwordRate(c)
	}
	if c.layerRates() && set["char-dim"] == "" {
		c.CharDim = symbolDim
	}
}
