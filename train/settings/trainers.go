package settings

import (
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"github.com/w2vcl/w2vcl/wordcontext/cooccurrence"
)

// TextOptions returns the settings of reading the text.
func (c *Config) TextOptions() (corpus.Options, error) {
	o := corpus.Options{
		MinCount: c.MinCount, MaxWords: c.MaxVocabulary, MaxSentence: c.MaxSentence,
		JoinLines: c.JoinLines, Lowercase: c.Lowercase, Field: c.Field,
		Threads: c.ThreadCount(),
	}
	return o, o.Tokenizer.UnmarshalText([]byte(c.Tokenizer))
}

// maxPositives is how many samples a word has in an iteration of mode cl at most.
const maxPositives = 256

// MatrixOptions returns the settings of M.
func (c *Config) MatrixOptions() wordcontext.Options {
	return wordcontext.Options{
		Window: c.Window, Contexts: c.Contexts, Sample: c.Sample, Passes: c.Passes,
		Tempering: c.Tempering, Positives: c.Positives, MaxPositives: maxPositives,
		DynamicWindow: c.DynamicWindow, InOrder: !c.Shuffle, Seed: c.Seed, Threads: c.ThreadCount(),
	}
}

// Negatives returns the distribution that negatives are drawn from. m is nil in
// modes without M.
func (c *Config) Negatives(m *wordcontext.Matrix, v *corpus.Vocabulary) (*corpus.Alias, error) {
	alias, err := corpus.NewAlias(corpus.CountPower(c.noise().counts(m, v), c.NoiseExponent))
	if err != nil {
		return nil, fmt.Errorf("cannot draw negatives: %w (is --noise-exponent sensible?)", err)
	}
	return alias, nil
}

// GraphOptions returns the settings of the graph trainers; e is nil for a table of words.
func (c *Config) GraphOptions(e subword.Trained) graph.Options {
	o := graph.Options{
		Dim: c.Dim, Negatives: c.Negative, Seed: c.Seed, Threads: c.ThreadCount(), SharedNegatives: c.SharedNegatives, SameColumn: c.IsPublished(), Together: c.Together,
		Composition: c.Composition(e), Positions: c.Positions(),
		Optimizer: optim.Options{Method: optim.Method(c.Optimizer), WeightDecay: c.WeightDecay},
	}
	if network, ok := e.(subword.Encoder); ok {
		o.Encoder = network
	}
	return o
}

// Positions is how many offsets a window has, if they are weighted; 0: they are not.
func (c *Config) Positions() int {
	if !c.trains(byPosition) {
		return 0
	}
	return 2 * c.Window
}

// StretchOptions returns the stretches of the text that models positional and cbow of mode cl train on.
func (c *Config) StretchOptions() wordcontext.StretchOptions {
	return wordcontext.StretchOptions{
		Words: c.Batch, Window: c.Window, Dynamic: c.DynamicWindow, Sample: c.Sample, Shared: c.SharedNegatives, Seed: c.Seed,
	}
}

// VanillaOptions returns the pairs that W2V-Vanilla trains on.
func (c *Config) VanillaOptions() graph.VanillaOptions {
	return graph.VanillaOptions{
		Window: c.Window, DynamicWindow: c.DynamicWindow, Sample: c.Sample,
		Batch: c.Batch, Epochs: c.Epochs, RunTokens: c.runWords(), Unit: c.Unit, Dense: c.IsPublished() && c.Preset != presetVanillaLong,
	}
}

// SequentialOptions returns the settings of the sentence-ordered trainers; e is nil for a table of words.
func (c *Config) SequentialOptions(e subword.Trained) sequential.Options {
	return sequential.Options{
		Composition: c.Composition(e),
		Algorithm:   sequential.Algorithm(c.Mode), Model: sequential.Model(c.Model), HierarchicalSoftmax: c.HierarchicalSoftmax,
		Dim: c.Dim, Window: c.Window, Negatives: c.Negative, Sample: c.Sample,
		Epochs: c.Epochs, RunTokens: c.runWords(), Unit: c.Unit, Seed: c.Seed, Threads: c.ThreadCount(),
		PairByPair: c.trains(atOnce) && !c.Together, Batch: c.Batch,
		Sync: sequential.Sync{Rule: sequential.Rule(c.CombineRule), Words: c.Sync, Hot: c.hotWords()},
	}
}

// hotWords is how many of the most frequent words GPUs or ranks combine more often than the others:
// with the rule of pWord2Vec as many as its program.
func (c *Config) hotWords() int {
	if sequential.Rule(c.CombineRule) == sequential.Mean {
		return 1024
	}
	return 8192
}

// CountOptions returns what the modes of whole matrices count.
func (c *Config) CountOptions() cooccurrence.Options {
	o := cooccurrence.Options{
		Sentences: corpus.SentenceOptions{Seed: c.Seed, Sample: c.Sample, Window: c.Window},
		Threads:   c.ThreadCount(),
	}
	switch {
	case c.trains(withXMax):
		o.Weighting = cooccurrence.Harmonic
	case c.DynamicWindow:
		o.Weighting = cooccurrence.Linear
	}
	return o
}

// PPMIOptions returns the associations of mode ppmi.
func (c *Config) PPMIOptions() cooccurrence.PPMIOptions {
	return cooccurrence.PPMIOptions{Smoothing: c.NoiseExponent, Shift: c.Shift, Threads: c.ThreadCount()}
}

// SVDOptions returns the factorization of mode ppmi.
func (c *Config) SVDOptions() cooccurrence.SVDOptions {
	return cooccurrence.SVDOptions{
		Dim: c.Dim, Seed: c.Seed, Threads: c.ThreadCount(),
	}
}

// GloVeOptions returns the training of mode glove.
func (c *Config) GloVeOptions() cooccurrence.GloVeOptions {
	return cooccurrence.GloVeOptions{
		Dim: c.Dim, XMax: c.XMax, Epochs: c.Epochs, Seed: c.Seed, Threads: c.ThreadCount(),
	}
}

// NewEncoder returns what composes words of their spelling; nil if nothing does. Its parameters take no memory until they
// are first written.
func (c *Config) NewEncoder(words []string) (subword.Trained, error) {
	own := c.Compose == composeSum
	switch c.Subword {
	case SubwordNone, "":
		return nil, nil
	case SubwordNGram:
		e, err := subword.NewNGrams(words, subword.NGramOptions{
			Dim: c.Dim, Shortest: c.MinGram, Longest: c.MaxGram, Buckets: c.Buckets, Own: own, Scale: unseenMean,
		})
		if err != nil {
			return nil, fmt.Errorf("--subword %s: %w", c.Subword, err)
		}
		return e, nil
	default:
		e, err := subword.NewNetwork(c.Subword, words, c.networkOptions())
		if err != nil {
			return nil, fmt.Errorf("--subword %s: %w", c.Subword, err)
		}
		if own {
			return subword.WithWords(e), nil
		}
		return e, nil
	}
}

func (c *Config) networkOptions() subword.NetworkOptions {
	return subword.NetworkOptions{
		Dim: c.Dim, CharDim: c.CharDim, Widths: c.Widths, Filters: c.Filters, Rate: c.SubwordLR,
		LayerRates: c.layerRates(), Activation: subword.Activation(c.Activation), Raw: !c.Standardize,
		Spelling: subword.SpellingOptions{Gram: c.Gram, Limit: c.symbols(), Buckets: c.Buckets},
	}
}

// layerRates: the paper has one rate, and so have characters, with which one was searched.
func (c *Config) layerRates() bool {
	return c.Subword == SubwordCNN && len(c.Gram) > 1 && !c.IsPublished()
}

// Rate returns the learning rate of a unit of a run of so many units. It goes in a straight line from lr, at the first unit,
// to lr-end, after the last. With decay by epochs an epoch has the rate of its first unit, as in PAR-Word2Vec on a GPU
// (algorithm 5): after each of E epochs the rate falls by a part of E.
func (c *Config) Rate(unit, units int) float64 {
	end := c.LREnd
	switch c.Decay {
	case decayNone:
		end = c.LR
	case decayEpochs:
		unit, units = int(int64(unit)*int64(c.Epochs)/int64(units)), c.Epochs
	}
	return c.LR + (end-c.LR)*float64(unit)/float64(units)
}

// Exported returns the vectors to use, (V, N): a new W + X·C, or W itself if X,
// the setting context-weight, is 0. Composed rows have a direction in common that hides what tells them apart, of
// unseen words most: n-grams' means lose the mean of W, rows of a graph their own mean
// (docs/subword.md). It is the mean returned; nil: nothing is lost.
func (c *Config) Exported(words, contexts []float32) (vectors, mean []float32) {
	if c.ContextWeight == 0 {
		return words, nil
	}
	sum := make([]float32, len(words))
	trainer.AddContexts(sum, words, contexts, float32(c.ContextWeight), c.ThreadCount())
	switch {
	case !c.HasEncoder():
	case c.trains(withMeans):
		mean = center(sum, words, c.Dim)
	default:
		mean = center(sum, sum, c.Dim)
	}
	return sum, mean
}

// ExportedRow returns one row of Exported where no encoder composes rows: of a row of W and one of C, in dst or W.
func (c *Config) ExportedRow(dst, word, context []float32) []float32 {
	if c.ContextWeight == 0 {
		return word
	}
	trainer.AddContext(dst, word, context, float32(c.ContextWeight))
	return dst
}
