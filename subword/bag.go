package subword

import (
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/subword/bpe"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// BagOptions are the shape of a Bag. The zero value of a field means its default; Dim must be set.
type BagOptions struct {
	Dim      int     // N, values of a word vector
	Rate     float64 // learning rate relative to the context vectors' rate; default 1
	MinCount int     // vocabulary words that must hold a character; default 2; rarer ones are one unknown part

	// Mean says that training takes means of parts, and not graph's sums: Encode then does, too. Sums would be
	// longer than the words of the vocabulary by the number of their parts. Rows adds sums all the same.
	Mean bool `json:",omitempty"`

	// Pieces are the parts of words; nil: characters. A file of an encoder has them apart.
	Pieces *bpe.Pieces `json:"-"`
}

// A Bag is the simplest encoder: the vector of a word is the sum, or the mean, of the vectors of its parts, characters or
// byte-pair pieces, in any order. It is also the example of how to write one; the comment of the package leads through it.
type Bag struct {
	options    BagOptions
	parts      speller
	vocabulary *Spellings    // parts of each word
	table      *tensor.Dense // (U, N), U parts
}

// A speller splits words into parts that have numbers: an Alphabet or pieces.
type speller interface {
	Len() int // U
	Spell(words []string, atLeast int) *Spellings
}

// pieces are a speller: piece number i of the list has number known + i.
type pieces struct{ *bpe.Pieces }

// Len is the number of parts, one for padding and one for the unknown among them.
func (p pieces) Len() int { return known + p.Pieces.Len() }

// Spell returns the parts of words. Words of less than atLeast parts are padded.
func (p pieces) Spell(words []string, atLeast int) *Spellings {
	s := &Spellings{starts: make([]int, 1, len(words)+1)}
	for _, word := range words {
		parts := p.Split(word)
		for _, part := range parts {
			number := uint32(unknown)
			if rank, ok := p.Rank(part); ok {
				number = uint32(known + rank)
			}
			s.symbols = append(s.symbols, number)
		}
		for range atLeast - len(parts) {
			s.symbols = append(s.symbols, padding)
		}
		s.starts = append(s.starts, len(s.symbols))
	}
	return s
}

// NewBag makes an encoder of a vocabulary. Its parameters are zero: Randomize or load them.
func NewBag(vocabulary []string, o BagOptions) (*Bag, error) {
	var parts speller = pieces{o.Pieces}
	if o.Pieces == nil {
		alphabet, err := NewAlphabet(vocabulary, SpellingOptions{Limit: math.MaxInt32, MinCount: o.MinCount})
		if err != nil {
			return nil, fmt.Errorf("bag of characters: %w", err)
		}
		parts = alphabet
	}
	b, err := newBag(parts, o)
	if err != nil {
		return nil, err
	}
	b.vocabulary = parts.Spell(vocabulary, 0)
	return b, nil
}

// newBag makes an encoder without a vocabulary.
func newBag(parts speller, o BagOptions) (*Bag, error) {
	if o.Dim < 1 {
		return nil, fmt.Errorf("bag of parts: dimension is %d; it must be at least 1", o.Dim)
	}
	return &Bag{options: o, parts: parts, vocabulary: &Spellings{starts: []int{0}}, table: newMatrix(parts.Len(), o.Dim)}, nil
}

// Words is V.
func (b *Bag) Words() int { return b.vocabulary.Len() }

// Dim is N.
func (b *Bag) Dim() int { return b.options.Dim }

// Truncated is 0: words may have any length.
func (b *Bag) Truncated() int { return 0 }

// Parameters lists the table of the parts' vectors, live. Its name follows from the pieces, so that training does not go
// on with others.
func (b *Bag) Parameters() []graph.Parameter {
	name := "characters"
	if p := b.options.Pieces; p != nil {
		name = fmt.Sprintf("pieces-%016x", xxhash.Sum64String(p.String()))
	}
	return []graph.Parameter{{Name: name, Value: b.table, Rate: b.options.Rate, Sparse: true}}
}

// Randomize fills the table uniformly in ±1/N, as NGrams does.
func (b *Bag) Randomize(seed uint64) {
	trainer.Uniform(b.table.Float32s(), 1/float64(b.options.Dim), seed, 0)
}

// Rows adds the sums for a batch of words to the graph of the table.
func (b *Bag) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	if len(parameters) != 1 {
		return nil, fmt.Errorf("bag of parts: %d parameters instead of 1", len(parameters))
	}
	return SumRows(b.vocabulary, parameters[0], batch, threads)
}

// Bytes estimates the memory of a graph of Rows: the vectors of all words and, for the gradient, which words have a
// part.
func (b *Bag) Bytes() (rows, gradient, free int64) {
	users := 4 * int64(len(b.vocabulary.symbols))
	return memory.SizeOf(b.Words()*b.Dim()) + users, memory.SizeOf(b.parts.Len() * b.Dim()), 0
}

// EncodeBytes is 0: vectors are summed one after the other.
func (b *Bag) EncodeBytes() int64 { return 0 }

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim.
func (b *Bag) Encode(words []string, dst []float32) error {
	n := b.Dim()
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("bag of parts: %w", err)
	}
	spelt, ones := b.parts.Spell(words, 0), &ones{}
	for i := range words {
		row, parts := dst[i*n:][:n], spelt.Word(i)
		ones.sum(row, b.table.Float32s(), parts)
		if b.options.Mean && len(parts) > 0 {
			factor := float32(1 / float64(len(parts)))
			for j := range row {
				row[j] *= factor
			}
		}
	}
	return nil
}
