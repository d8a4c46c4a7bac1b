package subword

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
)

// A Network is an encoder that is some of Gorgonia's operations: it reads the symbols of words, which are characters or n-grams, and
// gives features. These are standardized over the vocabulary, and a fully connected layer makes vectors of them. docs/encoder.md says
// how to write one; recurrent.go is the example.
type Network struct {
	Name     string   // the value of --subword
	Help     string   // a few words
	Settings []string // that it reads, such as char-dim; the fields of NetworkOptions of all others say nothing
	// Matrices lists the parameters, for words of so many different symbols, and says how many features a word has.
	Matrices func(o NetworkOptions, symbols int) (all []Matrix, features int, err error)
	// Features adds those of B words, (B, features), to the graph of the parameters, which come in the order of Matrices. A panic of
	// Gorgonia becomes an error. The features of a word may depend neither on other words nor on words.Len().
	Features func(o NetworkOptions, words *Symbols, parameters gorgonia.Nodes) (*gorgonia.Node, error)
}

// A Matrix is a parameter of a network. Its name is its own, and not words, contexts or weights.
type Matrix struct {
	Name          string
	Rows, Columns int
	Start         float64 // training starts with values in ±Start; 0: the limit of Glorot and Bengio (2010)
	Rate          float64 // learning rate relative to that of the network; 0 means 1
	Bias          bool    // the last row is a bias, which starts at zero
	OfSymbols     bool    // a row belongs to a symbol
}

var networks = []Network{cnn, recurrent}

// Networks lists the networks.
func Networks() []Network { return slices.Clone(networks) }

// Register adds a network to --subword, and to the encoders that Load reads: a file names its network. Call it from an init function,
// before anything reads settings or files. It panics if the name is taken.
func Register(n Network) {
	_, found := findNetwork(n.Name)
	if found || slices.Contains([]string{"", "none", "ngram", string(FromNGrams), string(FromFit)}, n.Name) {
		panic(fmt.Sprintf("subword: the name of network %q is taken", n.Name))
	}
	networks = append(networks, n)
}

func findNetwork(name string) (Network, bool) {
	i := slices.IndexFunc(networks, func(n Network) bool { return n.Name == name })
	if i < 0 {
		return Network{}, false
	}
	return networks[i], true
}
