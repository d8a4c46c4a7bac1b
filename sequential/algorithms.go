package sequential

import (
	"fmt"
	"slices"
	"strings"
)

// An Algorithm names a way of training in the order of the sentences.
type Algorithm string

// A Descriptor is all that the program knows about an algorithm. Adding one is a
// file with its Descriptor and a line in the table below.
type Descriptor struct {
	Name   Algorithm
	Help   string            // a few words behind the name
	Models []ModelDescriptor // to choose from, the default first; empty: SkipGram alone
	Recipe Recipe

	// FixedWindow algorithms have windows of Radius(W) words on either side; the
	// others draw each window's width from 1 to W.
	FixedWindow bool

	// Hierarchical algorithms can train with hierarchical softmax in place of negatives.
	Hierarchical bool

	// Composes algorithms can train rows of W that are composed of parts: Options.Composition.
	Composes bool

	spans     bool  // creates a spanning algorithm
	wordBytes int64 // memory of a thread for each word of the vocabulary
	spanBytes int64 // memory of a thread for each word of a span
	create    func(m *model) algorithm
}

// A Recipe is an algorithm's own defaults. A zero value leaves the default that
// all algorithms share.
type Recipe struct {
	LearningRate  float64 // at the start of training
	NoiseExponent float64 // power of the words' counts by which negatives are drawn
	ContextWeight float64 // X: the exported vectors are W + X·C
}

// algorithms is the table of all algorithms, in the order of help.
var algorithms = []Descriptor{
	word2VecDescriptor,
	pWord2VecDescriptor,
	pSGNSccDescriptor,
	fullW2VDescriptor,
	fullRegisterDescriptor,
	parW2VDescriptor,
}

// Algorithms returns all algorithms in the order of help.
func Algorithms() []Descriptor { return slices.Clone(algorithms) }

// Find returns the descriptor of an algorithm. The error of an unknown one lists
// them all.
func Find(name Algorithm) (Descriptor, error) {
	var known []string
	for _, d := range algorithms {
		if d.Name == name {
			return d, nil
		}
		known = append(known, string(d.Name))
	}
	return Descriptor{}, fmt.Errorf("sentence-ordered algorithm %q is unknown; it is one of %s", name, strings.Join(known, ", "))
}

// A Model says how the context words of a window predict its target.
type Model string

// SkipGram predicts the target from each context word alone. All algorithms have
// it.
const SkipGram Model = "sg"

// A ModelDescriptor is a model of an algorithm that has several.
type ModelDescriptor struct {
	Name   Model
	Help   string
	Recipe Recipe // goes before the algorithm's
}

func (d Descriptor) trains(m Model) bool {
	if len(d.Models) == 0 {
		return m == SkipGram
	}
	return slices.ContainsFunc(d.Models, func(x ModelDescriptor) bool { return x.Name == m })
}

// RecipeOf returns the recipe of the algorithm with one of its models.
func (d Descriptor) RecipeOf(m Model) Recipe {
	r := d.Recipe
	for _, x := range d.Models {
		if x.Name != m {
			continue
		}
		if x.Recipe.LearningRate != 0 {
			r.LearningRate = x.Recipe.LearningRate
		}
		if x.Recipe.NoiseExponent != 0 {
			r.NoiseExponent = x.Recipe.NoiseExponent
		}
		if x.Recipe.ContextWeight != 0 {
			r.ContextWeight = x.Recipe.ContextWeight
		}
	}
	return r
}
