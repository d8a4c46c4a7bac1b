package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// regressColumns is how many values of vectors are fitted at a time: those of a whole vector instruction.
const regressColumns = 16

// Fit gives n-grams the vectors that compose given vectors of the vocabulary best, (V, N), so that unseen words get vectors of a
// model that does not know spelling. It is ridge regression: over all n-grams z_g and for w_v the vectors less their mean,
//
//	sum over words of |w_v - mean of z_g over the n-grams of v|² + ridge · sum over n-grams of |z_g|²
//
// is least. The mean of the vectors is returned: what composes unseen words adds it. NGramOptions.Mean must be 1. Conjugate
// gradients solve it to a hundredth of what there is to fit: composed vectors then have a cosine of .9999 with the exact ones
// (benchmarks/subwords). The number of threads does not change a bit.
func (e *NGrams) Fit(vectors []float32, ridge float64, threads int) (mean []float32, err error) {
	return e.fit(vectors, ridge, threads, fitEnough)
}

// fitEnough is when Fit ends.
const fitEnough = 1e-4

// NewFit returns n-grams for Fit of vectors of dim values. If words are composed of n-grams already, it has the same ones,
// and shares their lists.
func NewFit(vocabulary []string, dim int, e Encoder) (*NGrams, error) {
	if w, ok := e.(*withWords); ok {
		e = w.Encoder
	}
	if n, ok := e.(*NGrams); ok {
		fit := *n
		fit.options.Dim, fit.options.Mean, fit.table = dim, 1, newMatrix(len(n.sizes), dim)
		return &fit, nil
	}
	return NewNGrams(vocabulary, NGramOptions{Dim: dim, Mean: 1})
}

// fit ends when the squares of what is left are so little of what they were.
func (e *NGrams) fit(vectors []float32, ridge float64, threads int, enough float64) (mean []float32, err error) {
	n, words := e.options.Dim, e.Words()
	switch {
	case len(vectors) != words*n:
		return nil, fmt.Errorf("n-grams are fitted to %d values; %d words have %d", len(vectors), words, words*n)
	case e.options.Mean != 1 || !(ridge > 0):
		return nil, fmt.Errorf("n-grams are fitted as means, with a ridge above 0; they have the mean %v, ridge %v", e.options.Mean, ridge)
	}
	sums := make([]float64, n)
	for v := range words {
		for i, x := range vectors[v*n:][:n] {
			sums[i] += float64(x)
		}
	}
	mean = make([]float32, n)
	for i, sum := range sums {
		mean[i] = float32(sum / float64(words))
	}
	r := newRegression(e, float32(ridge))
	return mean, team.New(threads).Do((n+regressColumns-1)/regressColumns, func(_, block int) {
		first := block * regressColumns
		columns := min(regressColumns, n-first)
		target := make([]float32, words*regressColumns)
		for v := range words {
			for i := range columns {
				target[v*regressColumns+i] = vectors[v*n+first+i] - mean[first+i]
			}
		}
		z := r.solve(target, enough)
		for row := range e.sizes {
			copy(e.row(row)[first:], z[row*regressColumns:][:columns])
		}
	})
}

// A regression has what all columns have in common. Rows of words and of the n-grams' table have regressColumns values.
type regression struct {
	words   *Spellings
	rows    int
	ridge   []float32 // of each row: a row stands for several n-grams
	weights []float32 // of each word, of one of its n-grams in the mean
	inverse []float32 // of the diagonal of the normal equations
}

func newRegression(e *NGrams, ridge float32) *regression {
	r := &regression{words: e.vocabulary, rows: len(e.sizes)}
	for _, size := range e.sizes {
		r.ridge = append(r.ridge, ridge*float32(size))
	}
	diagonal, counts := append([]float32(nil), r.ridge...), map[uint32]float32{}
	for v := range r.words.Len() {
		word := r.words.Word(v)
		weight := 1 / float32(max(len(word), 1))
		r.weights = append(r.weights, weight)
		clear(counts)
		for _, row := range word {
			counts[row]++
		}
		for _, row := range word { // each time it comes adds its count
			diagonal[row] += counts[row] * weight * weight
		}
	}
	for _, x := range diagonal {
		r.inverse = append(r.inverse, 1/x)
	}
	return r
}

// solve returns the rows that fit columns best: it solves (X^T X + ridge) z = X^T target by conjugate gradients,
// preconditioned by the diagonal, with a step of its own for each column.
func (r *regression) solve(target []float32, enough float64) (z []float32) {
	const steps = 300
	size := r.rows * regressColumns
	z = make([]float32, size)
	residual, direction, image, composed := make([]float32, size), make([]float32, size), make([]float32, size), make([]float32, len(target))
	r.spread(residual, target)
	r.precondition(image, residual)
	copy(direction, image)
	length := products(residual, image)
	first := length
	for range steps {
		r.compose(composed, direction)
		r.spread(image, composed)
		for row, ridge := range r.ridge {
			simd.SGD(image[row*regressColumns:][:regressColumns], direction[row*regressColumns:][:regressColumns], 1, -ridge)
		}
		step := quotients(length, products(direction, image))
		addScaled(z, direction, step, 1)
		addScaled(residual, image, step, -1)
		r.precondition(image, residual)
		before := length
		length = products(residual, image)
		growth, done := quotients(length, before), true
		for row := 0; row < size; row += regressColumns {
			for i, g := range growth {
				direction[row+i] = image[row+i] + g*direction[row+i]
			}
		}
		for i, x := range length {
			done = done && x <= enough*first[i]
		}
		if done {
			break
		}
	}
	return z
}

// compose writes the means of words, X times rows.
func (r *regression) compose(words, rows []float32) {
	clear(words)
	for v, weight := range r.weights {
		to := words[v*regressColumns:][:regressColumns]
		for _, row := range r.words.Word(v) {
			simd.SGD(to, rows[row*regressColumns:][:regressColumns], 1, -weight)
		}
	}
}

// spread writes what words give back to their rows, X^T times words.
func (r *regression) spread(rows, words []float32) {
	clear(rows)
	for v, weight := range r.weights {
		from := words[v*regressColumns:][:regressColumns]
		for _, row := range r.words.Word(v) {
			simd.SGD(rows[row*regressColumns:][:regressColumns], from, 1, -weight)
		}
	}
}

func (r *regression) precondition(to, from []float32) {
	for row, inverse := range r.inverse {
		for i, x := range from[row*regressColumns:][:regressColumns] {
			to[row*regressColumns+i] = inverse * x
		}
	}
}

// products returns the inner products of the columns of x and y.
func products(x, y []float32) (sums [regressColumns]float64) {
	for at := 0; at < len(x); at += regressColumns {
		for i := range regressColumns {
			sums[i] += float64(x[at+i]) * float64(y[at+i])
		}
	}
	return sums
}

// quotients divides column by column; a column that is solved has no quotient, which is 0.
func quotients(x, y [regressColumns]float64) (q [regressColumns]float32) {
	for i := range x {
		if y[i] > 0 {
			q[i] = float32(x[i] / y[i])
		}
	}
	return q
}

// addScaled adds sign times y to x, each column times its scale.
func addScaled(x, y []float32, scale [regressColumns]float32, sign float32) {
	for at := 0; at < len(x); at += regressColumns {
		for i, s := range scale {
			x[at+i] += sign * s * y[at+i]
		}
	}
}

// FitBytes is the memory that Fit takes beside the vectors, with so many threads: the table, which is written to only now, and
// what the columns have that are fitted at a time.
func (e *NGrams) FitBytes(threads int) int64 {
	columns := min(threads, (e.options.Dim+regressColumns-1)/regressColumns)
	return memory.SizeOf(len(e.sizes)*e.options.Dim) + int64(columns)*4*regressColumns*int64(4*len(e.sizes)+2*e.Words()) + 8*int64(len(e.sizes)+e.Words())
}
