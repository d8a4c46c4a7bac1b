package train

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/w2vcl/w2vcl/device"
)

// The recipes: every default of every mode and preset, and nothing else. A
// recipe is chosen by mode, preset and optimizer, because a good learning rate
// for Adam is useless for SGD.

// Names of presets.
const (
	PresetTuned = "tuned" // what works best; the default
	PresetPaper = "paper" // the published setting
)

// Values of settings that name a choice.
const (
	NoiseMatrix = "matrix"
	NoiseCounts = "counts"

	VectorsSum   = "sum"
	VectorsWords = "words"

	DecayLinear = "linear"
	DecayNone   = "none"

	OptimizerAdam    = "adam"
	OptimizerAdamRow = "adam-row"
	OptimizerSGD     = "sgd"

	ModelSkipGram = "sg"
	ModelCBOW     = "cbow"

	SubwordNone  = "none"
	SubwordCNN   = "cnn"
	SubwordNGram = "ngram"

	FormFused = "fused"
	FormStock = "stock"

	TokenizerWhitespace = "whitespace"
	TokenizerWords      = "words"

	DeviceCPU = "cpu"

	PrecisionFloat32 = string(device.Float32)
	PrecisionHalf    = string(device.Half)
)

// Defaults returns the recipe of a mode, preset and optimizer. An empty name
// means mode cl, preset tuned, optimizer adam. Unknown names get the values of
// those, for [Config.Validate] to refuse.
func Defaults(mode, preset, optimizer string) Config {
	c := Config{
		Mode:      orElse(mode, ModeCL),
		Preset:    orElse(preset, PresetTuned),
		Optimizer: orElse(optimizer, OptimizerAdam),

		Checkpoint: "10m",

		MinCount:    5,
		MaxSentence: 1000,
		Tokenizer:   TokenizerWhitespace,
		Dim:         100,
		Window:      2,
		Negative:    5,
		Decay:       DecayLinear,

		Seed:   1,
		Device: DeviceCPU,
		Form:   FormFused,
	}
	if slices.Contains(deviceModes, c.Mode) {
		c.Precision = PrecisionFloat32
	}
	if slices.Contains(graphModes, c.Mode) {
		subwordRecipe(&c, SubwordNone)
	}
	switch {
	case slices.Contains(sequentialModes, c.Mode):
		sequentialRecipe(&c)
	case c.Mode == ModeVanilla && c.Preset == PresetPaper:
		vanillaPaper(&c)
	case c.Mode == ModeVanilla:
		vanillaTuned(&c)
	case c.Preset == PresetPaper:
		clPaper(&c)
	default:
		clTuned(&c)
	}
	return c
}

// clTuned is the recipe found by 75 runs on 17 million words of Wikipedia
// (benchmarks/2026-11-21-recipes.md): M from the subsampled corpus with dynamic windows, and
// negatives drawn as often as words are found as contexts, so that the two
// alternating steps share one objective. See clRate for long vectors.
func clTuned(c *Config) {
	c.Noise, c.NoiseExponent = NoiseMatrix, 1
	c.Sample, c.Passes, c.DynamicWindow = 1e-4, 5, true
	c.Contexts, c.Epochs = 8192, 1
	c.LR, c.WeightDecay = 6e-3, 0.06
	if c.Optimizer == OptimizerSGD {
		c.LR, c.WeightDecay = 0.06, 0.01
	}
	c.Vectors = VectorsSum
}

// clRate is Adam's learning rate in the tuned recipe: a step of Adam moves every
// value by about the rate, so scores, which are sums over dim values, move by dim
// times that. Above 1/dim the analogies and rare words of long vectors suffer
// (benchmarks/2026-11-21-cuda-cl.md). Weight decay works by its product with the rate,
// which stays as long as decay stays at 0.1 or less.
func clRate(c *Config, set settingsSet) {
	if set["lr"] != "" || c.Dim < 1 {
		return
	}
	tuned := c.LR
	c.LR = min(tuned, readable(1/float64(c.Dim)))
	if set["weight-decay"] == "" {
		c.WeightDecay = max(c.WeightDecay, min(0.1, readable(c.WeightDecay*tuned/c.LR)))
	}
}

// clPaper is the setting of the W2V-CL paper's experiments.
func clPaper(c *Config) {
	c.Dim, c.MinCount = 500, 50
	c.Noise, c.NoiseExponent = NoiseCounts, 0.75
	c.Sample, c.Passes = 0, 1
	c.Contexts, c.Epochs = 65536, 1
	c.LR, c.Decay = 1e-3, DecayNone
	if c.Optimizer == OptimizerSGD {
		c.LR = 0.04
	}
	c.Vectors = VectorsWords
}

// vanillaTuned is the baseline with the same text, windows and negatives a
// word. Its moments are updated only where a minibatch touches them, which is
// why it wants a higher rate than the whole-table updates of cl.
func vanillaTuned(c *Config) {
	c.Noise, c.NoiseExponent = NoiseCounts, 0.75
	c.Sample, c.DynamicWindow = 1e-4, true
	c.Batch, c.Epochs = 1024, 5
	c.LR = 1e-2
	if c.Optimizer == OptimizerSGD {
		c.LR = 0.025
	}
	c.Vectors = VectorsWords
}

// vanillaPaper is the baseline of the W2V-CL paper.
func vanillaPaper(c *Config) {
	vanillaTuned(c)
	c.Dim, c.MinCount = 500, 50
	c.Sample, c.DynamicWindow, c.Epochs = 0, false, 1
	c.LR, c.Decay = 1e-3, DecayNone
}

// sequentialRecipe is what word2vec.c and the papers of its relatives train
// with. The paper's preset is the comparison of FULL-W2V, section 5. The tuned one of
// fullw2v has flatter negatives and exports W + C: after 20 epochs all of
// five sets of scores are better (benchmarks/2026-11-21-cuda-fullw2v.md).
func sequentialRecipe(c *Config) {
	c.Optimizer, c.Form = "", "" // plain gradient descent, no graph
	if c.Mode == ModeWord2Vec {
		c.Model = ModelSkipGram
	}
	c.Window = 5
	c.Noise, c.NoiseExponent = NoiseCounts, 0.75
	c.Sample, c.Epochs = 1e-4, 5
	c.LR = 0.025
	c.Vectors = VectorsWords
	switch {
	case c.Preset == PresetPaper:
		c.Dim, c.Epochs = 128, 20
	case c.Mode == ModeFullW2V:
		c.NoiseExponent, c.Vectors = 0.5, VectorsSum
	}
}

// subwordRecipe is what composes word vectors, and what trains it well
// (benchmarks/2026-11-21-cuda-subword.md; that of vanilla is older). What all words
// share gets gradients from all of them, so it wants a lower rate than words' own
// vectors: with a higher one, words that are spelt alike become alike, and the longer
// one trains the more (see subwordRate). The paper has one learning rate, and no
// vectors of words' own.
func subwordRecipe(c *Config, kind string) {
	c.Subword, c.WordTable = kind, true
	c.Gram, c.CharDim, c.Widths, c.Filters, c.MaxChars = 1, 32, "2,3,4", 64, 30
	c.MinGram, c.MaxGram, c.Buckets = 3, 6, 2_000_000
	switch vanilla := c.Mode == ModeVanilla; {
	case kind == SubwordNone:
	case c.Preset == PresetPaper:
		c.SubwordLR, c.WordTable = 1, false
	case kind == SubwordNGram && vanilla:
		c.SubwordLR, c.WordTable = 0.15, false
	case kind == SubwordCNN && !vanilla:
		c.SubwordLR = 0.01
	default:
		c.SubwordLR = 0.05
	}
}

// subwordRate fits the rate of an encoder, that of a run of 8,192 iterations, to the
// length of this run: what more iterations do to it is what a higher rate does. For
// the CNN it is in proportion, up to the rate of tables. Most n-grams are those of few
// words: their rate rises less in shorter runs, and does not fall in longer ones.
func subwordRate(c *Config) {
	iterations := max(cmp.Or(c.Iterations, c.Epochs*c.Contexts), 1)
	factor := 8192 / float64(iterations)
	if c.Subword == SubwordNGram {
		factor = max(math.Sqrt(factor), 1)
	}
	c.SubwordLR = min(readable(c.SubwordLR*factor), 1)
}

// readable rounds a computed setting to three digits, for config.toml is read by people.
func readable(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return rounded
}

// Demo returns the settings of `w2vcl demo`, to be given to [Resolve]: mode cl
// with the tuned recipe on the small raw text in testdata. More contexts than
// these do not make its scores better, they only take longer. An iteration with
// an encoder, named as --subword does, takes ten times as long, so there are fewer.
func Demo(encoder string) map[string]string {
	contexts := "4096"
	if slices.Contains(encoders, encoder) {
		contexts = "1536"
	}
	return map[string]string{
		"mode":      ModeCL,
		"contexts":  contexts,
		"tokenizer": TokenizerWords,
		"lowercase": "true",
	}
}

// dependentDefaults sets what follows from other settings, unless it was set.
func dependentDefaults(c *Config, set settingsSet) {
	if set["noise-exponent"] == "" && c.Noise != Defaults(c.Mode, c.Preset, c.Optimizer).Noise {
		switch c.Noise {
		case NoiseMatrix:
			c.NoiseExponent = 1
		case NoiseCounts:
			c.NoiseExponent = 0.75
		}
	}
	if c.Mode == ModeCL && c.Preset == PresetTuned && c.Optimizer != OptimizerSGD && !slices.Contains(encoders, c.Subword) {
		clRate(c, set)
	}
	if slices.Contains(sequentialModes, c.Mode) {
		if set["lr"] == "" && c.Model == ModelCBOW {
			c.LR = 0.05 // as in word2vec.c: one step for a whole window
		}
		if set["lr"] == "" && c.Mode == ModePARW2V {
			c.LR = 0.03 // at 0.025, MEN and RW are lower than with the other modes
		}
		if set["lr-end"] == "" && c.Decay == DecayLinear {
			c.LREnd = readable(c.LR * 1e-4)
		}
	}
	if set["subword-lr"] == "" && c.Mode == ModeCL && c.Preset != PresetPaper {
		subwordRate(c)
	}
	// Without subsampling every pass would find the same contexts.
	if set["passes"] == "" && c.Sample == 0 && !c.DynamicWindow && c.Passes > 1 {
		c.Passes = 1
	}
}

func orElse(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return name
}
