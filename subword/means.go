package subword

import (
	"context"
	"fmt"
	"runtime"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Means compose unseen words as fastText does, so that they can be written as a
// fastText model: the vector is the mean of rows, one for each n-gram. Row g is
//
//	scale · z_g + offset
//
// where z_g is the vector of the n-gram in NGrams, zero for one that is not in the
// vocabulary. The scale is the number of n-grams of a word of the vocabulary on
// average; so the vector of a word of that length is the sum that NGrams trains,
// and of a longer or shorter word the same but for its length. A word without
// n-grams gets zeros. Where training takes means itself the scale is NGramOptions.Mean.
type Means struct {
	ngrams *NGrams
	scale  float32
	offset []float32 // (N); nil: zeros
}

// means returns the means of n-grams.
func (e *NGrams) means() *Means {
	if mean := e.options.Mean; mean > 0 {
		return &Means{ngrams: e, scale: mean}
	}
	return &Means{ngrams: e, scale: float32(len(e.vocabulary.symbols)) / float32(e.Words())}
}

// unseen returns what composes the vectors of unseen words with an encoder that was
// trained: what Save writes.
func unseen(e Composer) Composer {
	if w, ok := e.(*withWords); ok {
		e = w.Encoder
	}
	if n, ok := e.(*NGrams); ok {
		return n.means()
	}
	return e
}

// Dim is N.
func (m *Means) Dim() int { return m.ngrams.Dim() }

// Shape says which n-grams a word has.
func (m *Means) Shape() fasttext.Shape { return m.ngrams.shape() }

// NGram writes the row of a bucket to dst, N values.
func (m *Means) NGram(bucket uint32, dst []float32) {
	clear(dst)
	if row, ok := m.ngrams.rows[bucket]; ok {
		for i, x := range m.ngrams.table.Float32s()[int(row)*len(dst):][:len(dst)] {
			dst[i] = float32(m.scale * x) // rounded twice on every machine
		}
	}
	for i, x := range m.offset {
		dst[i] += x
	}
}

// Encode writes the vectors of words, any strings, to dst, len(words) x Dim, in the
// arithmetic of fastText.
func (m *Means) Encode(words []string, dst []float32) error {
	n := m.Dim()
	if err := checkEncode(words, dst, n); err != nil {
		return fmt.Errorf("n-grams: %w", err)
	}
	const atATime = 16
	// Without a context to cancel there is no error.
	return parallel.Do(context.Background(), runtime.GOMAXPROCS(0), (len(words)+atATime-1)/atATime, func(part int) {
		row, buckets := make([]float32, n), []uint32(nil)
		for i := part * atATime; i < min((part+1)*atATime, len(words)); i++ {
			buckets = m.Shape().NGrams(buckets[:0], words[i])
			m.encode(buckets, dst[i*n:][:n], row)
		}
	})
}

// encode writes the vector of a word with some n-grams to sum; row is scratch.
func (m *Means) encode(buckets []uint32, sum, row []float32) {
	clear(sum)
	for _, bucket := range buckets {
		m.NGram(bucket, row)
		for j, x := range row {
			sum[j] += x
		}
	}
	factor := float32(1 / float64(max(len(buckets), 1)))
	for j := range sum {
		sum[j] *= factor
	}
}
