package seeds

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// Ensemble puts the vectors of several runs side by side, for the words that all runs have.
// Each vector is scaled to length 1 first, so the cosine of two words is the mean of their
// cosines in the runs. The seeds give the dimensions of each run another meaning; nothing
// has to be aligned, because dimensions of different runs are never added.
//
// If dim is not 0, the vectors are reduced to dim dimensions by a truncated singular value
// decomposition. Of all tables with dim dimensions, the result comes nearest to the dot
// products of the full table (Eckart and Young 1936).
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
		return nil, fmt.Errorf("the runs have %d dimensions together: %d are too many", all, dim)
	}
	values := int64(len(words)) * int64(all)
	bytes := 4 * values
	if dim != 0 {
		bytes = 8 * (3*values + 4*int64(all)*int64(all)) // the rows three times at most, and square matrices
	}
	done, err := memory.Room(bytes)
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
	if dim == 0 {
		return embedding.NewTable(words, all, vectors)
	}
	if vectors, err = truncate(vectors, len(words), dim); err != nil {
		return nil, err
	}
	return embedding.NewTable(words, dim, vectors)
}

// truncate returns the first dim columns of U·S, (rows, dim), of the singular value
// decomposition U·S·Vᵀ of a table. V is found as the eigenvectors of the table's square matrix.
func truncate(table []float32, rows, dim int) ([]float32, error) {
	all := len(table) / rows
	full := mat.NewDense(rows, all, nil)
	for i, v := range table {
		full.RawMatrix().Data[i] = float64(v)
	}
	var square mat.SymDense
	square.SymOuterK(1, full.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&square, true) {
		return nil, errors.New("the vectors cannot be reduced: the eigenvectors did not converge")
	}
	var v mat.Dense
	eigen.VectorsTo(&v) // by rising eigenvalue
	var reduced mat.Dense
	reduced.Mul(full, v.Slice(0, all, all-dim, all))
	out := make([]float32, rows*dim)
	for i := range rows {
		for k := range dim {
			out[i*dim+k] = float32(reduced.At(i, dim-1-k))
		}
	}
	return out, nil
}
