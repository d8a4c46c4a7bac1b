package settings

import (
	"slices"

	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
)

// A Mode is one way of training, by one model: a row of the table of modes.
type Mode struct {
	Name   string
	Model  string // of mode cl, whose models have a row each; empty: any
	Help   string // a few words
	When   string // it is the one to take; empty: to repeat a paper
	Family Family
	Unit   string // a unit of its trainer, for people, in the singular
	Paper  string // the preset that presetPaper is; none: the recipe is its paper's

	does ability // all that it has
}

// A Family is a kind of modes that share a trainer.
type Family int

// The families of modes.
const (
	LargeBatch      Family = iota // graph.CL, on the matrix M
	Stretches                     // graph.CBOW, on stretches of the text: mode cl without model sg
	Minibatch                     // graph.Vanilla, on pairs in the order of the text
	SentenceOrdered               // sequential.Trainer, on the sentences of the text
	WholeMatrix                   // package cooccurrence, on the counts of all pairs
)

// An ability is what some modes have and others lack. A setting names the one that it belongs to.
type ability uint32

// The abilities of modes.
const (
	withMatrix        ability = 1 << iota // M, of which it takes samples
	inIterations                          // a number of iterations that one may choose
	atOnce                                // updates all at once, from old rows, or one after the other
	inEpochs                              // passes over the text or M
	atRate                                // a learning rate
	onNegatives                           // tables of words and contexts, trained on positives and negatives
	withNoise                             // a choice of what negatives are drawn by
	withNoiseExponent                     // a power of the counts of contexts
	inRandomWindows                       // windows whose size is drawn, or fixed
	inBatches                             // a number of words or pairs that are trained at once
	withOptimizer                         // a Gorgonia graph, and a choice of its optimizer
	withSubwords                          // words that are composed from their spelling
	withNetworks                          // also by networks; each says which settings it reads
	withMeans                             // n-grams whose mean is a row
	byPosition                            // weights of positions in windows, which are of one width
	withModels                            // several models
	withTree                              // hierarchical softmax
	withSync                              // tables of several GPUs or ranks, which are combined now and then
	OnGPU                                 // CUDA kernels
	withShift                             // associations less the logarithm of a number of negatives
	withXMax                              // weights of counts
)

const (
	tables  = atRate | onNegatives
	asGraph = tables | withOptimizer | inRandomWindows | withSubwords | withNetworks | OnGPU
)

// Names of modes. Package sequential has the names of the sentence-ordered ones.
const (
	ModeCL      = "cl"
	ModeVanilla = "vanilla"
	ModePPMI    = "ppmi"
	ModeGloVe   = "glove"
)

// Models of mode cl.
const (
	ModelPositional = "positional"
	ModelCBOW       = string(sequential.CBOW)
	ModelSkipGram   = string(sequential.SkipGram)
)

// modes is the table of all modes, in the order of help.
var modes = makeModes()

func makeModes() []Mode {
	all := []Mode{
		{
			Name: ModeCL, Model: ModelSkipGram, Help: "W2V-CL, large batch", Family: LargeBatch, Unit: "iteration",
			Paper: presetW2VCL,
			does:  asGraph | withMatrix | inIterations | atOnce | inEpochs | withNoise | withNoiseExponent | withModels,
		},
		{
			Name: ModeCL, Model: ModelCBOW, Help: "W2V-CL, large batch", Family: Stretches, Unit: "iteration",
			Paper: presetW2VCL,
			does:  asGraph | inIterations | atOnce | inEpochs | inBatches | withMeans | withModels,
		},
		{
			Name: ModeCL, Model: ModelPositional, Help: "W2V-CL, large batch", Family: Stretches, Unit: "iteration",
			Paper: presetW2VCL,
			does:  asGraph&^inRandomWindows | inIterations | atOnce | inEpochs | inBatches | withMeans | withModels | byPosition,
		},
		{
			Name: ModeVanilla, Help: "W2V-Vanilla, minibatches", Family: Minibatch, Unit: "unit",
			Paper: presetW2VCL,
			does:  asGraph | inEpochs | inBatches | withNoise | withNoiseExponent,
		},
	}
	for _, a := range sequential.Algorithms() {
		all = append(all, Mode{
			Name: string(a.Name), Help: a.Help, Family: SentenceOrdered, Unit: "unit", Paper: paperOf(a.Name),
			does: tables | inEpochs | withNoise | withNoiseExponent | withSync |
				when(len(a.Models) > 0, withModels) | when(a.Hierarchical, withTree) | when(a.Composes, withSubwords|withMeans) |
				when(a.Name == sequential.PARW2V, inBatches) | when(a.Name == sequential.FullW2V, atOnce) | when(device.HasKernels(a.Name), OnGPU),
		})
	}
	all = append(all,
		Mode{
			Name: ModePPMI, Help: "positive pointwise mutual information and its truncated SVD",
			Family: WholeMatrix, Unit: "block",
			does: inRandomWindows | withNoiseExponent | withShift,
		},
		Mode{
			Name: ModeGloVe, Help: "GloVe, logarithms of counts",
			Family: WholeMatrix, Unit: "epoch", Paper: ModeGloVe,
			does: atRate | inEpochs | withXMax,
		})
	for i := range all {
		all[i].When = whenToTake[all[i].Name]
	}
	return all
}

// when returns an ability of those that it is true of.
func when(is bool, a ability) ability {
	if is {
		return a
	}
	return 0
}

// whenToTake says when to take a mode, if not only to repeat a paper.
var whenToTake = map[string]string{
	ModeCL:                       "best scores, on any text",
	string(sequential.Word2Vec):  "to compare with word2vec.c, gensim or, with --subword ngram, fastText",
	string(sequential.PWord2Vec): "large texts on a CPU, where it is fastest",
	string(sequential.FullW2V):   "large texts on a GPU",
	string(sequential.PARW2V):    "walks over graphs",
}

// paperOf returns the preset of an algorithm's paper. Those without one have that of FULL-W2V,
// which compares them.
func paperOf(a sequential.Algorithm) string {
	switch a {
	case sequential.Word2Vec, sequential.PWord2Vec, sequential.PARW2V:
		return string(a)
	default:
		return string(sequential.FullW2V)
	}
}

// Modes lists all modes in the order of help, each once: cl with its first model.
func Modes() []Mode {
	return slices.CompactFunc(slices.Clone(modes), func(a, b Mode) bool { return a.Name == b.Name })
}

// ModeNames lists the names of all modes.
func ModeNames() []string { return modesThat(0) }

// modesThat lists the names of the modes that have abilities, by any model.
func modesThat(a ability) []string {
	var names []string
	for _, m := range modes {
		if m.Trains(a) {
			names = append(names, m.Name)
		}
	}
	return slices.Compact(names)
}

var otherModels = map[string]string{"skipgram": ModelSkipGram, "continuousbagofwords": ModelCBOW}

// otherNames say what is meant by names of other programs in place of a mode.
var otherNames = map[string]string{
	"skipgram": "that is a model: give --model sg, or --mode word2vec --model sg",
	"sg":       "that is a model: give --model sg, or --mode word2vec --model sg",
	"cbow":     "that is a model: give --model cbow, or --mode word2vec --model cbow",
	"fasttext": "give --mode word2vec --subword ngram, or leave --mode out: cl has n-grams, too",
	"gensim":   "give --mode word2vec, which trains as gensim does",
	"w2v":      "give --mode word2vec",
}

// FindMode returns the mode of that name; ok is false if there is none.
func FindMode(name string) (m Mode, ok bool) { return findMode(name, "") }

// findMode returns the row of a mode and a model; the mode's first if it has no such model.
func findMode(name, model string) (m Mode, ok bool) {
	for _, row := range modes {
		if row.Name == name && (!ok || row.Model == model) {
			m, ok = row, true
		}
	}
	return m, ok
}

// FindMode returns the mode of the configuration, with its model; the zero Mode if there is none.
func (c *Config) FindMode() Mode {
	m, _ := findMode(c.Mode, c.Model)
	return m
}

// Trains reports whether the mode has all of these abilities.
func (m Mode) Trains(a ability) bool { return m.does&a == a }

// trains reports whether the mode of the configuration has all of these abilities.
func (c *Config) trains(a ability) bool { return c.FindMode().Trains(a) }

func (c *Config) in(f Family) bool {
	m := c.FindMode()
	return m.Name != "" && m.Family == f
}

// ReadsText reports whether training reads the text; else a matrix has all it needs.
func (m Mode) ReadsText() bool { return m.Family != LargeBatch && m.Family != WholeMatrix }
