package settings

import (
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Names of choices. Package optim has the names of optimizers, package sequential
// the names of models, and presets.go those of presets.
const (
	noiseMatrix = "matrix"
	noiseCounts = "counts"

	decayLinear = "linear"
	decayEpochs = "epochs"
	decayNone   = "none"

	SubwordNone  = "none"
	SubwordCNN   = "cnn"
	SubwordNGram = "ngram"

	composeSum      = "sum"
	composeSpelling = "spelling"

	freezeNone  = "none"
	FreezeWords = "words"
	FreezeParts = "parts"
	freezeKnown = "known"

	unseenEncoder = "encoder"
	unseenRegress = "regress"

	tokenizerWhitespace = "whitespace"
	tokenizerWords      = "words"

	DeviceCPU = "cpu"

	PrecisionFloat32    = string(device.Float32)
	PrecisionHalf       = string(device.Half)
	precisionHalfTables = string(device.HalfTables)
)

var (
	decayChoices = []Choice{
		{decayLinear, "down to --lr-end"},
		{decayEpochs, "the same, but only after each epoch"},
		{decayNone, ""},
	}
	precisionChoices = []Choice{
		{PrecisionFloat32, ""},
		{PrecisionHalf, "16 bits, see docs/cuda.md"},
		{precisionHalfTables, "16 bits for both tables of fullw2v and pword2vec"},
	}
	tokenizerChoices = []Choice{
		{tokenizerWhitespace, "text that is tokenized already"},
		{tokenizerWords, "raw text: runs of letters, digits and apostrophes"},
	}
	freezeChoices = []Choice{
		{freezeNone, ""},
		{FreezeWords, "words and their contexts"},
		{FreezeParts, "n-grams"},
		{freezeKnown, "words, contexts and n-grams"},
	}
	composeChoices = []Choice{
		{composeSum, "a vector of its own together with what --subword composes"},
		{composeSpelling, "what --subword composes, alone"},
	}
	unseenChoices = []Choice{
		{unseenEncoder, "what --subword composes; without an encoder there are none"},
		{unseenRegress, "n-grams fitted to the trained vectors by ridge regression; the run folder has them beside the encoder"},
	}
	activationChoices = []Choice{
		{string(subword.ReLU), ""},
		{string(subword.Tanh), ""},
		{string(subword.Linear), ""},
	}
)

var ngramOnly = []string{SubwordNGram}

func networks(setting string) (names []string) {
	for _, n := range subword.Networks() {
		if slices.Contains(append(n.Settings, "max-chars", "standardize"), setting) {
			names = append(names, n.Name)
		}
	}
	return names
}

func encoders() []string { return append(networks("max-chars"), SubwordNGram) }

func subwordChoices() []Choice {
	all := []Choice{{SubwordNone, ""}, {SubwordNGram, "character n-grams, hashed as in fastText"}}
	return append(all, choicesOf(subword.Networks(), func(n subword.Network) Choice { return Choice{n.Name, n.Help} })...)
}

// A noise is a distribution of negatives.
type noise struct {
	Choice
	exponent    float64 // the default of --noise-exponent
	needsMatrix bool

	// counts returns the weight of each word before the exponent; m may be nil
	// unless needsMatrix is set.
	counts func(m *wordcontext.Matrix, v *corpus.Vocabulary) []uint64
}

var noises = []noise{
	{
		Choice:   Choice{noiseMatrix, "how often a word was found as a context"},
		exponent: 1, needsMatrix: true,
		counts: func(m *wordcontext.Matrix, _ *corpus.Vocabulary) []uint64 { return m.ContextCounts() },
	},
	{
		Choice:   Choice{noiseCounts, "how often in the corpus"},
		exponent: 0.75,
		counts:   func(_ *wordcontext.Matrix, v *corpus.Vocabulary) []uint64 { return v.Counts },
	},
}

func choicesOf[T any](list []T, choice func(T) Choice) (all []Choice) {
	for _, x := range list {
		all = append(all, choice(x))
	}
	return all
}

func noiseChoices() []Choice { return choicesOf(noises, func(n noise) Choice { return n.Choice }) }

// noise returns the noise of a validated configuration.
func (c *Config) noise() noise {
	i := slices.IndexFunc(noises, func(n noise) bool { return n.Name == c.Noise })
	return noises[max(i, 0)]
}

func modeChoices() []Choice {
	return choicesOf(Modes(), func(m Mode) Choice { return Choice{m.Name, m.Help} })
}

func optimizerChoices() []Choice {
	return choicesOf(optim.Methods(), func(o optim.Descriptor) Choice {
		return Choice{string(o.Name), o.Help}
	})
}

// modelChoices lists the models of a mode, or of all modes that have some.
func modelChoices(mode string) (all []Choice) {
	if mode == ModeCL {
		return []Choice{
			{ModelPositional, "the mean of the words around it, weighted by position"},
			{ModelCBOW, "the plain mean of the words around it"},
			{ModelSkipGram, "one of them, sampled from the matrix M: as in the W2V-CL paper"},
		}
	}
	for _, a := range sequential.Algorithms() {
		for _, m := range a.Models {
			if mode == "" || mode == string(a.Name) {
				all = append(all, Choice{string(m.Name), m.Help})
			}
		}
	}
	return all
}

func combineRuleChoices() []Choice {
	return choicesOf(sequential.Rules(), func(d sequential.RuleDescriptor) Choice {
		return Choice{string(d.Name), d.Help}
	})
}
