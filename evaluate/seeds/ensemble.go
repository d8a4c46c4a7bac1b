package seeds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// flattening is the power of the singular values in an ensemble (Levy, Goldberg and Dagan 2015, section 3.3). At 1 the
// cosine of two words is the mean of their cosines in the runs. Below 1, directions with small singular values count for
// more; several runs together estimate these better than one run does. Of the powers from 1 to .5, .8 suits texts of 10 and
// of 100 MB (benchmarks/tried/recipes.md).
const flattening = 0.8

// Ensemble joins the vectors of several runs. It keeps the words that all runs have, scales each vector to
// length 1 and puts the vectors of a word side by side. This table has the singular value decomposition U·S·Vᵀ. Ensemble
// returns U·S^0.8, or the first dim columns of it if dim is not 0. The dimensions of two runs have different meanings, but
// the runs need not be aligned, because dimensions of different runs are never added.
func Ensemble(ctx context.Context, tables []*embedding.Table, dim int) (*embedding.Table, error) {
	if len(tables) < 2 {
		return nil, errors.New("an ensemble needs two runs or more")
	}
	words, err := commonWords(len(tables), func(i int) (*embedding.Table, error) { return tables[i], nil })
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("the runs have no word in common")
	}
	all := 0
	for _, t := range tables {
		all += t.Dim
	}
	if dim > all {
		return nil, fmt.Errorf("the runs have only %d dimensions together, not %d", all, dim)
	}
	values := int64(len(words)) * int64(all)
	done, err := memory.Room(8 * (3*values + 4*int64(all)*int64(all))) // the rows three times at most, and square matrices
	if err != nil {
		return nil, fmt.Errorf("an ensemble of %d words: %w", len(words), err)
	}
	defer done()
	vectors := make([]float32, values)
	first := 0 // dimension of the run
	for _, t := range tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		normalized := t.Normalized()
		for i, word := range words {
			row, _ := t.Index(word) // all tables have it
			copy(vectors[i*all+first:], normalized[row*t.Dim:(row+1)*t.Dim])
		}
		first += t.Dim
	}
	dim = cmp.Or(dim, all)
	if vectors, err = flatten(vectors, len(words), dim); err != nil {
		return nil, err
	}
	return embedding.NewTable(words, dim, vectors)
}

// flatten returns the first dim columns of U·S^flattening, (rows, dim), of the singular value
// decomposition U·S·Vᵀ of a table. V is found as the eigenvectors of the table's square matrix, and U·S is the table times V.
func flatten(table []float32, rows, dim int) ([]float32, error) {
	all := len(table) / rows
	full := mat.NewDense(rows, all, nil)
	for i, v := range table {
		full.RawMatrix().Data[i] = float64(v)
	}
	var square mat.SymDense
	square.SymOuterK(1, full.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&square, true) {
		return nil, errors.New("the runs cannot be joined: the eigenvectors did not converge")
	}
	var v, product mat.Dense
	eigen.VectorsTo(&v) // by rising eigenvalue, which is the square of a singular value
	product.Mul(full, v.Slice(0, all, all-dim, all))
	squares := eigen.Values(nil)
	scales := make([]float64, dim)
	for k := range scales {
		if x := squares[all-1-k]; x > squares[all-1]*1e-12 { // fewer words than dimensions, or a run twice: the rest is rounding
			scales[k] = math.Pow(x, (flattening-1)/2)
		}
	}
	out := make([]float32, rows*dim)
	for i := range rows {
		for k, scale := range scales {
			out[i*dim+k] = float32(scale * product.At(i, dim-1-k))
		}
	}
	return out, nil
}
