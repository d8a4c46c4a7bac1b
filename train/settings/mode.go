package settings

import (
	"cmp"
	"slices"
	"sync"

	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
)

// A Mode is one way of training.
type Mode struct {
	Name   string
	Help   string // a few words
	When   string // it is the one to take; some modes share a use
	Family Family
	Unit   string // a unit of its trainer, for people, in the singular
	GPU    bool   // there are CUDA kernels for it
	Paper  string // the preset that presetPaper is; none: the recipe is its paper's

	recipe func(c *Config) // sets the defaults in which it differs from other modes
}

// A Family is a kind of modes that share a trainer and settings.
type Family int

// The families of modes.
const (
	LargeBatch      Family = iota // graph.CL, on the matrix M
	Stretches                     // graph.CBOW, on stretches of the text: mode cl with model cbow
	Minibatch                     // graph.Vanilla, on pairs in the order of the text
	SentenceOrdered               // sequential.Trainer, on the sentences of the text
	WholeMatrix                   // package cooccurrence, on the counts of all pairs
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
	ModelCBOW     = string(sequential.CBOW)
	ModelSkipGram = string(sequential.SkipGram)
)

// modes is the table of all modes: settings look into it again and again.
var modes struct {
	once sync.Once
	all  []Mode
}

// Modes is the table of all modes, in the order of help. Nobody changes it.
func Modes() []Mode {
	modes.once.Do(func() { modes.all = makeModes() })
	return modes.all
}

func makeModes() []Mode {
	all := []Mode{
		{
			Name: ModeCL, Help: "W2V-CL, large batch", Family: LargeBatch, Unit: "iteration",
			GPU: true, Paper: presetW2VCL, recipe: clDefaults,
		},
		{
			Name: ModeVanilla, Help: "W2V-Vanilla, minibatches", Family: Minibatch, Unit: "unit",
			GPU: true, Paper: presetW2VCL, recipe: vanillaRecipe,
		},
	}
	for _, a := range sequential.Algorithms() {
		all = append(all, Mode{
			Name: string(a.Name), Help: a.Help, Family: SentenceOrdered, Unit: "unit",
			GPU: device.HasKernels(a.Name), Paper: paperOf(a.Name),
			recipe: func(c *Config) { sequentialRecipe(c, a) },
		})
	}
	all = append(all,
		Mode{
			Name: ModePPMI, Help: "positive pointwise mutual information and its truncated SVD",
			Family: WholeMatrix, Unit: "block", recipe: ppmiRecipe,
		},
		Mode{
			Name: ModeGloVe, Help: "GloVe, logarithms of counts",
			Family: WholeMatrix, Unit: "epoch", Paper: ModeGloVe, recipe: gloVeRecipe,
		})
	for i := range all {
		all[i].When = cmp.Or(whenToTake[all[i].Name], "baselines of papers")
	}
	return all
}

// whenToTake says when to take a mode that is not a baseline.
var whenToTake = map[string]string{
	ModeCL:                       "best scores, on any text; the same result with any number of threads",
	string(sequential.Word2Vec):  "to compare with word2vec.c, gensim or, with --subword ngram, fastText",
	string(sequential.PWord2Vec): "large texts on a CPU, where it is fastest",
	string(sequential.PSGNScc):   "large texts on a CPU, where it is fastest",
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

// ModeNames lists the names of all modes.
func ModeNames() []string { return modeNames(func(Mode) bool { return true }) }

// modeNames lists the names of some modes.
func modeNames(include func(Mode) bool) []string {
	var names []string
	for _, m := range Modes() {
		if include(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// FindMode returns the mode of that name; ok is false if there is none.
func FindMode(name string) (m Mode, ok bool) {
	all := Modes()
	i := slices.IndexFunc(all, func(m Mode) bool { return m.Name == name })
	if i < 0 {
		return Mode{}, false
	}
	return all[i], true
}

// FindMode returns the mode of the configuration, in the family of its model; the zero Mode if there
// is none.
func (c *Config) FindMode() Mode {
	m, _ := FindMode(c.Mode)
	return m.ofModel(c.Model)
}

// ofModel returns the mode in the family of a model.
func (m Mode) ofModel(model string) Mode {
	if m.Family == LargeBatch && model == ModelCBOW {
		m.Family = Stretches
	}
	return m
}

// Groups of modes that use a setting.
func largeBatch(m Mode) bool      { return m.Family == LargeBatch }
func onStretches(m Mode) bool     { return m.Family == Stretches }
func inIterations(m Mode) bool    { return largeBatch(m) || onStretches(m) }
func minibatch(m Mode) bool       { return m.Family == Minibatch }
func sentenceOrdered(m Mode) bool { return m.Family == SentenceOrdered }
func asGraph(m Mode) bool         { return inIterations(m) || minibatch(m) }
func onGPU(m Mode) bool           { return m.GPU }
func batched(m Mode) bool {
	return minibatch(m) || onStretches(m) || m.Name == string(sequential.PARW2V)
}
func onWords(m Mode) bool      { return m.Family != WholeMatrix }
func withNoise(m Mode) bool    { return onWords(m) && !onStretches(m) }
func inEpochs(m Mode) bool     { return !onPPMI(m) && !onStretches(m) }
func onPPMI(m Mode) bool       { return m.Name == ModePPMI }
func onGloVe(m Mode) bool      { return m.Name == ModeGloVe }
func notPPMI(m Mode) bool      { return m.Name != ModePPMI }
func raisesNoise(m Mode) bool  { return !onGloVe(m) && !onStretches(m) }
func randomWindow(m Mode) bool { return asGraph(m) || onPPMI(m) }
func withModels(m Mode) bool   { return len(modelChoices(m.Name)) > 0 }
func composing(m Mode) bool    { return algorithm(m).Composes || onStretches(m) } // means of n-grams
func withEncoders(m Mode) bool { return asGraph(m) || composing(m) }
func hierarchical(m Mode) bool { return algorithm(m).Hierarchical }

// algorithm describes the algorithm of a sentence-ordered mode; the others have none.
func algorithm(m Mode) sequential.Descriptor {
	d, _ := sequential.Find(sequential.Algorithm(m.Name))
	return d
}

// ReadsText reports whether training reads the text; else a matrix has all it needs.
func (m Mode) ReadsText() bool { return m.Family != LargeBatch && m.Family != WholeMatrix }
