package subword

import (
	"math"

	"github.com/w2vcl/w2vcl/kernels/simd"
)

// leanCount is how often a word must occur for its trained vector to count as much as its spelling. Held-out words of two texts
// chose it, in short runs (benchmarks/subwords).
const leanCount = 20

// A Leaning makes the vectors of rare words lean on their spelling: the rarer a word is, the more of its vector is chance. This is
// empirical Bayes. The vector of word v becomes a weighted mean of its trained vector (weight counts[v]) and of the vector that it
// would get as an unseen word (weight leanCount), scaled to its length. Only n-grams that other words share compose the latter.
type Leaning struct {
	Once []float32 // as of Fit

	ngrams  *NGrams
	vectors []float32
	counts  []uint64
	lengths []float32 // of each vector, in lengths of the mean
	only    []uint32  // the only word that has a row of the table, or several
}

// several is in place of a word.
const several = math.MaxUint32

// FitLeaning is Fit, but fits directions: all vectors as if they were as long as they are on average, because vectors are compared
// by their cosines, and those of rare words are longest. It returns what makes the vectors lean on that, which keeps vectors and
// counts.
func (e *NGrams) FitLeaning(vectors []float32, counts []uint64, ridge float64, threads int) (*Leaning, error) {
	lengths := relativeLengths(vectors, e.options.Dim)
	once, err := e.fit(vectors, lengths, counts, ridge, threads, fitEnough)
	if err != nil {
		return nil, err
	}
	return &Leaning{Once: once, ngrams: e, vectors: vectors, counts: counts, lengths: lengths, only: e.onlyWords()}, nil
}

// relativeLengths returns the lengths of vectors, over their mean; 1 of zeros, which have no direction.
func relativeLengths(vectors []float32, n int) []float32 {
	lengths, mean := make([]float32, len(vectors)/n), 0.0
	for v := range lengths {
		row := vectors[v*n:][:n]
		length := math.Sqrt(float64(simd.Dot(row, row)))
		lengths[v] = float32(length)
		mean += length / float64(len(lengths))
	}
	for v, length := range lengths {
		if lengths[v] = 1; length > 0 {
			lengths[v] = length / float32(mean)
		}
	}
	return lengths
}

// onlyWords returns the only word that has each row of the table, or several.
func (e *NGrams) onlyWords() []uint32 {
	only, seen := make([]uint32, len(e.sizes)), make([]bool, len(e.sizes))
	for v := range e.Words() {
		for _, row := range e.vocabulary.Word(v) {
			if seen[row] && only[row] != uint32(v) {
				only[row] = several
				continue
			}
			only[row], seen[row] = uint32(v), true
		}
	}
	return only
}

// Vector writes the vector of word v to dst, N values, and returns it.
func (l *Leaning) Vector(v int, dst []float32) []float32 {
	n, rows := len(dst), l.ngrams.vocabulary.Word(v)
	copy(dst, l.Once)
	for _, row := range rows {
		if l.only[row] != uint32(v) {
			simd.SGD(dst, l.ngrams.row(int(row)), 1, -1/float32(len(rows)))
		}
	}
	trained := float64(l.counts[v]) / (float64(l.counts[v]) + leanCount)
	simd.SGD(dst, l.vectors[v*n:][:n], float32(1-trained)*l.lengths[v], -float32(trained))
	return dst
}

// LeaningBytes is the memory that FitLeaning takes beside FitBytes.
func (e *NGrams) LeaningBytes() int64 { return 4*int64(e.Words()) + 5*int64(len(e.sizes)) }
