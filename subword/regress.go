package subword

import (
	"cmp"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// regressColumns is how many values of vectors are fitted at a time: those of a whole vector instruction.
const regressColumns = 16

// Fit gives n-grams the vectors that compose given vectors of the vocabulary best, (V, N), so that unseen words get vectors of a
// model that does not know spelling. counts says how often the text has each word: a vector depends on that, too, and unseen
// words are rare. It is ridge regression: over all vectors a, b and z_g
//
//	sum over words of |w_v - a - b · log(counts[v]) - mean of z_g over the n-grams of v|² + ridge · sum over n-grams of √n_g · |z_g|²
//
// is least, with slopeRidge for b, where n_g words have the n-gram g: words that share an ending have less in common than those that
// share a stem, which are fewer. The vector a is returned, of what occurs once and has no n-grams: what composes unseen words adds it.
// NGramOptions.Scale must be 1. Conjugate gradients solve it to a hundredth of what there is to fit: composed vectors then have a
// cosine of .9999 with the exact ones (benchmarks/subwords). The number of threads does not change a bit.
func (e *NGrams) Fit(vectors []float32, counts []uint64, ridge float64, threads int) (once []float32, err error) {
	return e.fit(vectors, counts, ridge, threads, fitEnough)
}

// fitEnough is when Fit ends.
const fitEnough = 1e-4

// NewFit returns n-grams for Fit of vectors of dim values. If words are composed of n-grams already, it has the same ones,
// and shares their lists.
func NewFit(vocabulary []string, dim int, e Trained) (*NGrams, error) {
	n, ok := e.(*NGrams)
	if !ok {
		return NewNGrams(vocabulary, NGramOptions{Dim: dim, source: FromFit})
	}
	fit, words := *n, *n.words
	words.Dim, words.Parts, words.Own = dim, floats(len(words.Sizes)*dim), nil
	fit.options.Dim, fit.options.Scale, fit.options.source, fit.words = dim, 1, FromFit, &words
	return &fit, nil
}

// fit ends when the squares of what is left are so little of what they were.
func (e *NGrams) fit(vectors []float32, counts []uint64, ridge float64, threads int, enough float64) (once []float32, err error) {
	n, words := e.options.Dim, e.Words()
	switch {
	case len(vectors) != words*n || len(counts) != words:
		return nil, fmt.Errorf("n-grams are fitted to %d values and %d counts; %d words have %d values", len(vectors), len(counts), words, words*n)
	case e.options.Scale != 1 || !(ridge > 0):
		return nil, fmt.Errorf("n-grams are fitted as means, with a ridge above 0; they have the scale %v, ridge %v", e.options.Scale, ridge)
	}
	once = make([]float32, n)
	r := newRegression(e, counts, float32(ridge), team.New(threads))
	for first := 0; first < n && r.failed == nil; first += regressColumns {
		columns := min(regressColumns, n-first)
		value := func(v, i int) float32 { return vectors[v*n+first+i] }
		r.each(words, func(_, v int) {
			for i := range columns {
				r.composed[v*regressColumns+i] = value(v, i)
			}
		})
		r.solve(enough)
		r.each(words, func(_, v int) {
			r.compose(r.solution, v)
			for i := range columns {
				r.composed[v*regressColumns+i] = value(v, i) - r.composed[v*regressColumns+i]
			}
		})
		level := r.level()
		copy(once[first:], level[:columns])
		r.each(len(e.words.Sizes), func(_, row int) {
			copy(e.row(row)[first:], of(r.solution, row)[:columns])
		})
	}
	return once, r.failed
}

// A regression fits regressColumns columns at a time, with all threads, so that its memory does not grow with their number. Rows
// of words and of the n-grams' table have regressColumns values. A loop over the rows of one reads those of the other, so that
// no two threads write to a row.
type regression struct {
	words   *composed.Composition // the rows of each word
	first   []uint32              // the words of row i are holders[first[i]:first[i+1]], one as often as it has the row
	holders []uint32
	ridge   []float32 // of each row, which stands for several n-grams
	weights []float32 // of each word, of one of its n-grams in the mean
	inverse []float32 // of the diagonal of the normal equations
	counts  *frequencies

	solution, residual, direction, image []float32 // of rows
	composed                             []float32 // of words; what to fit, at first

	team   *team.Team
	parts  []columns // of a sum over rows, by piece
	failed error
}

// columns has a value for each column.
type columns = [regressColumns]float64

// regressPiece is how many rows a thread takes at a time. Sums are made by piece, so that they do not depend on the threads.
const regressPiece = 1024

func fitPieces(rows int) int { return (rows + regressPiece - 1) / regressPiece }

// of returns a row.
func of(rows []float32, i int) []float32 { return rows[i*regressColumns:][:regressColumns] }

func newRegression(e *NGrams, counts []uint64, ridge float32, threads *team.Team) *regression {
	words := *e.words
	words.Own = nil
	rows, size := len(words.Sizes), len(words.Sizes)*regressColumns
	r := &regression{
		words: &words, team: threads,
		ridge: make([]float32, rows), inverse: make([]float32, rows), weights: make([]float32, e.Words()),
		solution: make([]float32, size), residual: make([]float32, size), direction: make([]float32, size), image: make([]float32, size),
		composed: make([]float32, e.Words()*regressColumns), parts: make([]columns, fitPieces(max(rows, e.Words()))),
		counts: newFrequencies(counts),
	}
	r.first, r.holders = words.Users()
	for v := range r.weights {
		r.weights[v] = words.Weight(uint32(v))
	}
	for row, n := range words.Sizes {
		words, diagonal, distinct := r.holdersOf(row), float32(0), 0
		for i := 0; i < len(words); distinct++ {
			v, count := words[i], float32(0)
			for ; i < len(words) && words[i] == v; i++ {
				count += float32(n)
			}
			diagonal += count * count * r.weights[v] * r.weights[v]
		}
		r.ridge[row] = ridge * float32(n) * float32(math.Sqrt(float64(distinct)))
		r.inverse[row] = 1 / (diagonal + r.ridge[row])
	}
	return r
}

func (r *regression) holdersOf(row int) []uint32 { return r.holders[r.first[row]:r.first[row+1]] }

// each runs work for all i below n.
func (r *regression) each(n int, work func(piece, i int)) {
	err := r.team.Do(fitPieces(n), func(_, piece int) {
		for i := piece * regressPiece; i < min(n, (piece+1)*regressPiece); i++ {
			work(piece, i)
		}
	})
	r.failed = cmp.Or(r.failed, err)
}

// sum is each, and returns the sum of what work adds to its piece.
func (r *regression) sum(n int, work func(sum *columns, i int)) (all columns) {
	clear(r.parts)
	r.each(n, func(piece, i int) { work(&r.parts[piece], i) })
	for _, part := range r.parts {
		for i, x := range part {
			all[i] += x
		}
	}
	return all
}

// solve finds the rows that fit columns best: it solves (X^T X + ridge) solution = X^T composed by conjugate gradients,
// preconditioned by the diagonal, with a step of its own for each column. Here X and composed are what the line leaves of them, so
// that the line need not be solved for.
func (r *regression) solve(enough float64) {
	const steps = 300
	rows := len(r.ridge)
	r.level()
	length := r.sum(rows, func(sum *columns, row int) {
		r.spread(r.residual, row)
		clear(of(r.solution, row))
		r.precondition(sum, row)
		copy(of(r.direction, row), of(r.image, row))
	})
	first := length
	for range steps {
		r.each(len(r.weights), func(_, v int) { r.compose(r.direction, v) })
		r.level()
		curvature := r.sum(rows, func(sum *columns, row int) {
			r.spread(r.image, row)
			simd.SGD(of(r.image, row), of(r.direction, row), 1, -r.ridge[row])
			addProducts(sum, of(r.direction, row), of(r.image, row))
		})
		step := quotients(length, curvature)
		before := length
		length = r.sum(rows, func(sum *columns, row int) {
			solution, residual, direction, image := of(r.solution, row), of(r.residual, row), of(r.direction, row), of(r.image, row)
			for i, s := range step {
				solution[i] += s * direction[i]
				residual[i] -= s * image[i]
			}
			r.precondition(sum, row)
		})
		growth, done := quotients(length, before), true
		r.each(rows, func(_, row int) {
			direction, image := of(r.direction, row), of(r.image, row)
			for i, g := range growth {
				direction[i] = image[i] + g*direction[i]
			}
		})
		for i, x := range length {
			done = done && x <= enough*first[i]
		}
		if done || r.failed != nil {
			break
		}
	}
}

// compose writes the mean of word v, X times rows.
func (r *regression) compose(rows []float32, v int) {
	to := of(r.composed, v)
	clear(to)
	for _, row := range r.words.Of(uint32(v)) {
		simd.SGD(to, of(rows, int(row)), 1, -r.words.Size(row)*r.weights[v])
	}
}

// level takes from composed the line of frequencies that is nearest to it, and returns what the line says of a word that occurs
// once.
func (r *regression) level() (once [regressColumns]float32) {
	logs := r.counts.logs
	sums := r.sum(len(logs), func(sum *columns, v int) {
		for i, x := range of(r.composed, v) {
			sum[i] += float64(x)
		}
	})
	products := r.sum(len(logs), func(sum *columns, v int) {
		for i, x := range of(r.composed, v) {
			sum[i] += float64(logs[v]) * float64(x)
		}
	})
	var mean, slope columns
	for i := range once {
		var x float64
		mean[i], slope[i], x = r.counts.line(sums[i], products[i])
		once[i] = float32(x)
	}
	r.each(len(logs), func(_, v int) {
		for i, row := 0, of(r.composed, v); i < len(row); i++ {
			row[i] -= float32(mean[i] + slope[i]*float64(logs[v]))
		}
	})
	return once
}

// spread writes what words give back to a row, X^T times composed.
func (r *regression) spread(rows []float32, row int) {
	to := of(rows, row)
	clear(to)
	for _, v := range r.holdersOf(row) {
		simd.SGD(to, of(r.composed, int(v)), 1, -r.words.Size(uint32(row))*r.weights[v])
	}
}

// precondition writes the image of the residual, and adds their products to a sum.
func (r *regression) precondition(sum *columns, row int) {
	residual, image := of(r.residual, row), of(r.image, row)
	for i, x := range residual {
		image[i] = r.inverse[row] * x
	}
	addProducts(sum, residual, image)
}

// addProducts adds the products of two rows.
func addProducts(sum *columns, x, y []float32) {
	for i := range sum {
		sum[i] += float64(x[i]) * float64(y[i])
	}
}

// quotients divides column by column; a column that is solved has no quotient, which is 0.
func quotients(x, y columns) (q [regressColumns]float32) {
	for i := range x {
		if y[i] > 0 {
			q[i] = float32(x[i] / y[i])
		}
	}
	return q
}

// FitBytes is the memory that Fit and FitLeaning take beside the vectors: the table, which is written to only now, what the
// columns have that are fitted at a time, and the words of each row.
func (e *NGrams) FitBytes() int64 {
	rows, words := len(e.words.Sizes), e.Words()
	return memory.SizeOf(rows*e.options.Dim) + 4*int64(regressColumns*(4*rows+words)+6*rows+3*words+len(e.words.Symbols)) +
		8*regressColumns*int64(fitPieces(max(rows, words)))
}

// FitSeconds is about how long Fit takes: some ten steps for each block of columns. A step has cost 40 to 50 ns on one thread of
// a server for each n-gram of each word, in texts of 20,000 to 70,000 words; twice as much where n-grams are many.
func (e *NGrams) FitSeconds(threads int) float64 {
	const steps, step = 10, 45e-9
	blocks := (e.options.Dim + regressColumns - 1) / regressColumns
	return steps * step * float64(blocks) * float64(len(e.words.Symbols)) / float64(threads)
}

// frequencies are the logarithms of how often words occur, less their mean. Vectors of rare words differ from those of frequent
// ones whatever the spelling, roughly in a straight line of the logarithm. Unseen words get what the line says of words that
// occur once.
type frequencies struct {
	logs    []float32 // of the count of each word, less the mean
	mean    float64
	squares float64 // the sum of the squares of logs, and the ridge
}

// slopeRidge times the number of words is the ridge of the line's slope. Texts have a hundred times as much in squares. Where
// words occur about equally often, the ridge makes the line level, instead of one that says anything of a word that occurs once.
const slopeRidge = 0.01

// newFrequencies takes a word that does not occur as one that occurs once.
func newFrequencies(counts []uint64) *frequencies {
	f := &frequencies{logs: make([]float32, len(counts)), squares: slopeRidge * float64(len(counts))}
	for _, count := range counts {
		f.mean += math.Log(float64(max(count, 1))) / float64(len(counts))
	}
	for v, count := range counts {
		x := math.Log(float64(max(count, 1))) - f.mean
		f.logs[v] = float32(x)
		f.squares += x * x
	}
	return f
}

// line returns the line nearest in squares to a value of each word, by the sum of the values and of their products with logs:
// value v is about mean + slope · logs[v], and once for a word that occurs once.
func (f *frequencies) line(sum, products float64) (mean, slope, once float64) {
	mean, slope = sum/float64(len(f.logs)), products/f.squares
	return mean, slope, mean - slope*f.mean
}
