// Package subword composes word vectors from the spelling of words, so that words that the text lacks get vectors, too.
//
// Start with NGrams, fastText's means of hashed n-grams, which training takes as rows that are composed
// (kernels/composed), and with Network, such as the CNN (cnn.go). NewNetwork makes an Encoder of it, which takes the
// place of the word table in the graphs of package graph and is trained by the gradient that Gorgonia derives. The CNN is
// put together from three operations, Convolve (convolve.go), Standardize (standardize.go) and Connect (connect.go).
// WithWords gives every word a vector of its own beside. Save and Load keep either in a file, without the vocabulary.
//
// The whole vocabulary is one batch; threads take it in blocks of rows. Memory holds the features and the vector of
// every word, never its characters' embeddings.
//
// # To add an encoder
//
// Write a Network and register it: recurrent.go is the example, docs/encoder.md explains it.
package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph"
)

// A Composer gives any word that has a known part a vector.
type Composer interface {
	// Dim is N.
	Dim() int
	// Encode writes the vectors of words, any strings, to dst, len(words) x Dim.
	Encode(words []string, dst []float32) error
	// Parts is how many of a word's parts, symbols or n-grams, training knew. Without any, what Encode writes says nothing of the word.
	Parts(word string) int
	// Source says what composes.
	Source() Source
}

// A Trained composer composes the vectors of the vocabulary that it was made for, too, and training changes it: NGrams or an
// Encoder.
type Trained interface {
	Composer
	// Words is V.
	Words() int
	// FileBytes is about the size of the file that Save writes.
	FileBytes() int64
	// ListBytes estimates the memory of what is known of the vocabulary: the parts of each word.
	ListBytes() int64
	// Continue lets Randomize set what is trained to a start.
	Continue(from Start) error
	// StartRows says which row of the start each row of a table of this name comes from; -1: from none. nil: all are where they were.
	StartRows(table string) []int
	// Truncated is the number of vocabulary words longer than the limit.
	Truncated() int
	// save describes what Save writes.
	save(d *description, f *fileWriter)
}

// An Encoder is a network that composes word vectors: in a graph for the vocabulary, and by Encode for any words.
type Encoder interface {
	graph.Encoder
	Trained
}

func checkEncode(words []string, dst []float32, dim int) error {
	if len(dst) != len(words)*dim {
		return fmt.Errorf("vectors of %d words with %d dimensions do not fit in %d values", len(words), dim, len(dst))
	}
	return nil
}
