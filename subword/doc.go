// Package subword composes word vectors from the spelling of words, so that words that the text lacks get vectors, too.
//
// Start with NGrams, fastText's means of hashed n-grams, which training takes as rows that are composed
// (kernels/composed), and with Encoder and its one kind, CNN, a convolutional network over characters. An encoder takes the
// place of the word table in the graphs of package graph and is trained by the gradient that Gorgonia derives. The CNN is
// put together from three operations, Convolve (convolve.go), Standardize (standardize.go) and Connect (connect.go).
// WithWords gives every word a vector of its own beside. Save and Load keep either in a file, without the vocabulary.
//
// The whole vocabulary is one batch; threads take it in blocks of rows. Memory holds the features and the vector of
// every word, never its characters' embeddings.
//
// # To add an encoder
//
//  1. Write a type with the methods of Encoder; CNN (cnn.go) is the example. Its rows are a node of shape (B, N): B words, N
//     dimensions.
//  2. Use Gorgonia's operations, or Convolve, Standardize and Connect, which reuse their memory. operation.Apply makes an
//     operation from a function and its gradient (connect.go). The order of a sum must follow from shapes, so that results do
//     not depend on the number of threads.
//  3. Put the encoder into graph.Options.Encoder, wrapped in WithWords if words have own vectors.
//  4. Describe its file: add its kind to source.go, and its tensors to file.go and load.go.
//  5. Add the value of --subword to train/settings/choices.go, settings to train/settings/table_subword.go, the learning rate to
//     train/settings/recipes.go, and a case to NewEncoder in train/settings/trainers.go.
//  6. GPUs have kernels for the CNN; StructureOf refuses all others.
//  7. Add the encoder to encoders in subword_test.go. The tests then check its gradients, its results on several threads,
//     and its file.
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
	// Truncated is the number of vocabulary words longer than the limit.
	Truncated() int
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
