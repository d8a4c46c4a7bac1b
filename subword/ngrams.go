package subword

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"strings"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// NGramOptions are the shape of NGrams. The zero values of Shortest, Longest and Buckets mean their defaults; Dim must
// be set.
type NGramOptions struct {
	Dim               int // N, values of a word vector
	Shortest, Longest int // characters of an n-gram; default 3 to 6
	Buckets           int // what n-grams are hashed to, less than 2^32; default 2,000,000

	Own   bool    `json:"-"` // words of the vocabulary have vectors of their own beside
	Scale float32 `json:"-"` // how much of the mean of its n-grams an unseen word gets; default 1

	source Source // default FromNGrams
}

func (o NGramOptions) withDefaults() (NGramOptions, error) {
	o.Shortest, o.Longest = cmp.Or(o.Shortest, 3), cmp.Or(o.Longest, 6)
	o.Buckets, o.Scale = cmp.Or(o.Buckets, 2_000_000), cmp.Or(o.Scale, 1)
	o.source = cmp.Or(o.source, FromNGrams)
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

// NGrams are vectors of the character n-grams of words between their marks, as in fastText (Bojanowski et al. 2017).
// N-grams are hashed to buckets; only buckets that the vocabulary uses have a vector, for no other is trained. Buckets of
// the same words share one: see [composed.Fold].
//
// A word of the vocabulary is the mean of its own vector and of its n-grams': its Composition, which training changes. The
// vector of any other word is
//
//	scale · mean of z_g + offset
//
// over its n-grams, where z_g is zero for one that is not in the vocabulary. It is a mean of rows scale · z_g + offset, so a
// fastText model can hold it. A word without n-grams gets zeros, and a word whose n-grams are all unknown the offset.
type NGrams struct {
	options NGramOptions
	rows    map[uint32]uint32     // bucket to part
	words   *composed.Composition // of the vocabulary
	shift
	start Start     // that training goes on from; without an encoder it starts anew
	known []float32 // n-grams of each part that the start has
}

// NewNGrams makes the n-grams of a vocabulary. Their vectors are zero: randomize or load them.
func NewNGrams(vocabulary []string, o NGramOptions) (*NGrams, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("n-grams: %w", err)
	}
	if len(vocabulary) == 0 {
		return nil, fmt.Errorf("n-grams: the vocabulary is empty")
	}
	e := &NGrams{options: o, rows: map[uint32]uint32{}}
	lists := make([][]uint32, len(vocabulary))
	parallel.Ranges(runtime.GOMAXPROCS(0), len(vocabulary), 1<<10, func(first, end int) {
		for word := first; word < end; word++ {
			lists[word] = e.buckets(vocabulary[word])
		}
	})
	starts, ngrams := []uint32{0}, []uint32(nil)
	for _, buckets := range lists {
		for _, bucket := range buckets {
			row, ok := e.rows[bucket]
			if !ok {
				row = uint32(len(e.rows))
				e.rows[bucket] = row
			}
			ngrams = append(ngrams, row)
		}
		starts = append(starts, uint32(len(ngrams)))
	}
	parts, sizes, starts, symbols := composed.Fold(starts, ngrams, len(e.rows))
	for bucket, row := range e.rows {
		e.rows[bucket] = parts[row]
	}
	e.words = &composed.Composition{
		Dim: o.Dim, Starts: starts, Symbols: symbols, Sizes: sizes, Parts: floats(len(sizes) * o.Dim), Rate: 1, Randomize: e.Randomize,
	}
	if o.Own {
		e.words.Own = floats(len(vocabulary) * o.Dim)
	}
	return e, nil
}

// Composition says how the words of the vocabulary are composed; its tables are live.
func (e *NGrams) Composition() *composed.Composition { return e.words }

// Shape says the n-grams in fastText's terms.
func (e *NGrams) Shape() fasttext.Shape {
	return fasttext.Shape{Shortest: e.options.Shortest, Longest: e.options.Longest, Buckets: e.options.Buckets}
}

// buckets returns the buckets of the n-grams that a word is trained with. A word that is too short to have one has that
// of the marked word.
func (e *NGrams) buckets(word string) []uint32 {
	if buckets := e.Shape().NGrams(nil, word); len(buckets) > 0 {
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
func (e *NGrams) Words() int { return e.words.Words() }

// Dim is N.
func (e *NGrams) Dim() int { return e.options.Dim }

// Source is FromNGrams or FromFit.
func (e *NGrams) Source() Source { return e.options.source }

// Parts is how many n-grams of a word the vocabulary has.
func (e *NGrams) Parts(word string) (known int) {
	for _, bucket := range e.Shape().NGrams(nil, word) {
		if _, ok := e.rows[bucket]; ok {
			known++
		}
	}
	return known
}

// Truncated is 0: words may have any length.
func (e *NGrams) Truncated() int { return 0 }

// Randomize fills the table uniformly in ±1/N, as fastText does; a row of n buckets in ±1/(N√n), so that means begin as
// if each had its own. Words' own vectors start as at word level.
func (e *NGrams) Randomize(seed uint64) {
	trainer.Uniform(e.words.Parts, 1/float64(e.options.Dim), seed, 0)
	parallel.Ranges(runtime.GOMAXPROCS(0), len(e.words.Sizes), 1<<8, func(first, end int) {
		for row := first; row < end; row++ {
			if size := e.words.Sizes[row]; size > 1 {
				for i := range e.row(row) {
					e.row(row)[i] /= float32(math.Sqrt(float64(size)))
				}
			}
		}
	})
	if e.words.Own != nil {
		trainer.Randomize(e.words.Own, e.options.Dim, seed)
	}
	if e.start.Encoder != nil {
		e.goOn()
	}
}

func (e *NGrams) row(row int) []float32 { return e.words.Parts[row*e.options.Dim:][:e.options.Dim] }

// FileBytes is about the size of the file that Save writes.
func (e *NGrams) FileBytes() int64 {
	return fileOverhead + 4*int64(len(e.words.Parts)) + 8*int64(len(e.rows))
}

// ListBytes estimates the memory of the parts of each word and of a map of buckets that is half full.
func (e *NGrams) ListBytes() int64 {
	return 4*int64(cap(e.words.Symbols)+cap(e.words.Starts)+cap(e.words.Sizes)) + 2*(4+4+1)*int64(len(e.rows))
}

// NGram writes the row of a bucket to dst, N values.
func (e *NGrams) NGram(bucket uint32, dst []float32) {
	clear(dst)
	if row, ok := e.rows[bucket]; ok {
		simd.SGD(dst, e.row(int(row)), 1, -e.options.Scale) // rounded twice on every machine
	}
	if e.offset != nil {
		simd.SGD(dst, e.offset, 1, -1)
	}
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim, in the arithmetic of fastText.
func (e *NGrams) Encode(words []string, dst []float32) error {
	n := e.Dim()
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("n-grams: %w", err)
	}
	parallel.Ranges(runtime.GOMAXPROCS(0), len(words), 16, func(first, end int) {
		row, buckets := make([]float32, n), []uint32(nil)
		for i := first; i < end; i++ {
			buckets = e.Shape().NGrams(buckets[:0], words[i])
			composed.Mean(dst[i*n:][:n], len(buckets), func(k int) []float32 {
				e.NGram(buckets[k], row)
				return row
			})
		}
	})
	return nil
}

// save describes the n-grams for Save.
func (e *NGrams) save(d *description, f *fileWriter) {
	d.Kind, d.NGrams, d.Scale = e.options.source, &e.options, e.options.Scale
	e.writeBuckets(f)
	f.floats("ngrams", e.words.Parts, len(e.words.Sizes), e.options.Dim)
}
