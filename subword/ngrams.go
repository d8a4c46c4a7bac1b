package subword

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// NGramOptions are the shape of NGrams. The zero values of Shortest, Longest and Buckets mean their defaults; Dim must
// be set.
type NGramOptions struct {
	Dim               int     // N, values of a word vector
	Shortest, Longest int     // characters of an n-gram; default 3 to 6
	Buckets           int     // what n-grams are hashed to, less than 2^32; default 2,000,000
	Rate              float64 // learning rate relative to the context vectors' rate; default 1
	Mean              float32 `json:"-"` // above 0: training takes means, not sums, and unseen words so much of them
}

func (o NGramOptions) withDefaults() (NGramOptions, error) {
	o.Shortest, o.Longest = cmp.Or(o.Shortest, 3), cmp.Or(o.Longest, 6)
	o.Buckets = cmp.Or(o.Buckets, 2_000_000)
	switch {
	case o.Dim < 1:
		return o, fmt.Errorf("dimension is %d; it must be at least 1", o.Dim)
	case o.Shortest < 1 || o.Longest < o.Shortest:
		return o, fmt.Errorf("n-grams of %d to %d characters; they must have at least 1", o.Shortest, o.Longest)
	case o.Buckets < 1 || uint64(o.Buckets) > math.MaxUint32:
		return o, fmt.Errorf("n-grams are hashed to %d buckets; there must be at least 1 and less than 2^32", o.Buckets)
	}
	return o, nil
}

// NGrams is fastText's encoder (Bojanowski et al. 2017): the vector of a word is the sum of the vectors of the character
// n-grams of the word between its marks. N-grams are hashed to buckets; only buckets that the vocabulary uses have a
// vector, for no other is trained, and in the sum of an unseen word they count as zero. A file has means instead of
// sums; see Means.
type NGrams struct {
	options    NGramOptions
	rows       map[uint32]uint32 // bucket to row of the table; those of the same words share one
	sizes      []uint32          // buckets of each row
	vocabulary *Spellings        // rows of the n-grams of each word
	table      *tensor.Dense     // (U, N)
}

// NewNGrams makes an encoder of a vocabulary. Its parameters are zero: Randomize or load them.
func NewNGrams(vocabulary []string, o NGramOptions) (*NGrams, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("n-grams: %w", err)
	}
	if len(vocabulary) == 0 {
		return nil, fmt.Errorf("n-grams: the vocabulary is empty")
	}
	e := &NGrams{options: o, rows: map[uint32]uint32{}, vocabulary: &Spellings{starts: []int{0}}}
	for _, word := range vocabulary {
		for _, bucket := range e.buckets(word) {
			row, ok := e.rows[bucket]
			if !ok {
				row = uint32(len(e.rows))
				e.rows[bucket] = row
			}
			e.vocabulary.symbols = append(e.vocabulary.symbols, row)
		}
		e.vocabulary.starts = append(e.vocabulary.starts, len(e.vocabulary.symbols))
	}
	e.sizes = slices.Repeat([]uint32{1}, len(e.rows))
	e.mergeRows()
	e.table = newMatrix(len(e.sizes), o.Dim)
	return e, nil
}

// mergeRows gives n-grams one row that the same words have, as often: they would be trained alike, for all get the same
// gradient, of which Adam and its relatives forget the size, and to which others add its multiple. It is a third to a half of all rows.
func (e *NGrams) mergeRows() {
	of, sizes := kernels.ClassesOf(kernels.Structure{Starts: kernels.Starts(e.vocabulary.starts), Symbols: e.vocabulary.symbols, Alphabet: len(e.rows)})
	e.sizes = sizes
	for bucket, row := range e.rows {
		e.rows[bucket] = of[row]
	}
	for i, row := range e.vocabulary.symbols {
		e.vocabulary.symbols[i] = of[row]
	}
}

// shape says the n-grams in fastText's terms.
func (e *NGrams) shape() fasttext.Shape {
	return fasttext.Shape{Shortest: e.options.Shortest, Longest: e.options.Longest, Buckets: e.options.Buckets}
}

// buckets returns the buckets of the n-grams that a word is trained with. A word that is too short to have one has that
// of the marked word.
func (e *NGrams) buckets(word string) []uint32 {
	if buckets := e.shape().NGrams(nil, word); len(buckets) > 0 {
		return buckets
	}
	return []uint32{bucketOf(strings.Join(split(word, 1), ""), e.options.Buckets)}
}

// bucketOf hashes characters as fastText does (FNV-1a).
func bucketOf(characters string, buckets int) uint32 {
	h := fnv.New32a()
	h.Write([]byte(characters))
	return h.Sum32() % uint32(buckets)
}

// Words is V.
func (e *NGrams) Words() int { return e.vocabulary.Len() }

// Dim is N.
func (e *NGrams) Dim() int { return e.options.Dim }

// Truncated is 0: words may have any length.
func (e *NGrams) Truncated() int { return 0 }

// Parameters lists the table of the n-grams' vectors, live.
func (e *NGrams) Parameters() []graph.Parameter {
	return []graph.Parameter{{Name: "ngrams", Value: e.table, Rate: e.options.Rate, Sparse: true}}
}

// Randomize fills the table uniformly in ±1/N, as fastText does; a row of n buckets in ±1/(N√n), so that sums begin as
// if each had its own.
func (e *NGrams) Randomize(seed uint64) {
	trainer.Uniform(e.table.Float32s(), 1/float64(e.options.Dim), seed, 0)
	for row, size := range e.sizes {
		if size > 1 {
			for i := range e.row(row) {
				e.row(row)[i] /= float32(math.Sqrt(float64(size)))
			}
		}
	}
}

func (e *NGrams) row(row int) []float32 {
	return e.table.Float32s()[row*e.options.Dim:][:e.options.Dim]
}

// Bytes estimates the memory of a graph of Rows: the vectors of all words and, for the gradient, which words have an
// n-gram.
func (e *NGrams) Bytes() (rows, gradient int64) {
	users := 4 * int64(len(e.vocabulary.symbols))
	return memory.SizeOf(e.Words()*e.Dim()) + users, memory.SizeOf(len(e.sizes) * e.Dim())
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim. A word of which the vocabulary has no part
// gets zeros.
func (e *NGrams) Encode(words []string, dst []float32) error {
	n := e.options.Dim
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("n-grams: %w", err)
	}
	ones := &ones{}
	for i, word := range words {
		var rows []uint32
		for _, bucket := range e.buckets(word) {
			if row, ok := e.rows[bucket]; ok {
				rows = append(rows, row)
			}
		}
		ones.sum(dst[i*n:][:n], e.table.Float32s(), rows)
	}
	return nil
}

// Rows adds the sums for a batch of words to the graph of the table.
func (e *NGrams) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	if len(parameters) != 1 {
		return nil, fmt.Errorf("n-grams: %d parameters instead of 1", len(parameters))
	}
	rows, err := SumRows(e.vocabulary, parameters[0], batch, threads)
	if err != nil {
		return nil, fmt.Errorf("n-grams: %w", err)
	}
	return rows, nil
}
