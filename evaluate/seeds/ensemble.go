package seeds

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// Ensemble returns the mean of the vectors of several runs, for the words that all of them
// have. Vectors are scaled to length 1, and each run is centred: its mean vector is
// subtracted. An orthogonal matrix, the solution of Procrustes' problem (Schönemann 1966,
// "A generalized solution of the orthogonal Procrustes problem"), rotates it onto the first.
func Ensemble(ctx context.Context, tables []*embedding.Table) (*embedding.Table, error) {
	words, err := wordsOfEnsemble(tables)
	if err != nil {
		return nil, err
	}
	dim := tables[0].Dim
	for i, t := range tables[1:] {
		if t.Dim != dim {
			return nil, fmt.Errorf("run 1 has vectors of %d dimensions and run %d of %d: they cannot be averaged", dim, i+2, t.Dim)
		}
	}
	values := len(words) * dim
	done, err := memory.Room(int64(values) * 8 * 3) // the sum and two runs
	if err != nil {
		return nil, fmt.Errorf("an ensemble of %d words: %w", len(words), err)
	}
	defer done()
	var first, sum *mat.Dense
	for _, t := range tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run := centered(t, words)
		if first == nil {
			first, sum = run, mat.DenseCopyOf(run)
			continue
		}
		rotation, err := rotationOnto(first, run)
		if err != nil {
			return nil, err
		}
		var rotated mat.Dense
		rotated.Mul(run, rotation)
		sum.Add(sum, &rotated)
	}
	vectors := make([]float32, values)
	for i, v := range sum.RawMatrix().Data {
		vectors[i] = float32(v / float64(len(tables)))
	}
	return embedding.NewTable(words, dim, vectors)
}

// Concatenate returns the vectors of several runs side by side, each of length 1, for the words
// that all of them have. The cosine of two words is the mean of their cosines in the runs.
func Concatenate(ctx context.Context, tables []*embedding.Table) (*embedding.Table, error) {
	words, err := wordsOfEnsemble(tables)
	if err != nil {
		return nil, err
	}
	dim := 0
	for _, t := range tables {
		dim += t.Dim
	}
	done, err := memory.Room(int64(len(words)) * int64(dim) * 4)
	if err != nil {
		return nil, fmt.Errorf("an ensemble of %d words: %w", len(words), err)
	}
	defer done()
	vectors := make([]float32, len(words)*dim)
	first := 0 // dimension of the run
	for _, t := range tables {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		normalized := t.Normalized()
		for i, word := range words {
			row, _ := t.Index(word) // all tables have it
			copy(vectors[i*dim+first:], normalized[row*t.Dim:(row+1)*t.Dim])
		}
		first += t.Dim
	}
	return embedding.NewTable(words, dim, vectors)
}

// wordsOfEnsemble lists the words that all of several tables have.
func wordsOfEnsemble(tables []*embedding.Table) ([]string, error) {
	if len(tables) < 2 {
		return nil, errors.New("an ensemble needs two runs or more")
	}
	words, err := commonWords(len(tables), func(i int) (*embedding.Table, error) { return tables[i], nil })
	if err == nil && len(words) == 0 {
		err = errors.New("the runs have no word in common")
	}
	return words, err
}

// centered returns the vectors of words, each of length 1, less their mean: (V, N).
func centered(t *embedding.Table, words []string) *mat.Dense {
	normalized := t.Normalized()
	rows := mat.NewDense(len(words), t.Dim, nil)
	mean := make([]float64, t.Dim)
	for i, word := range words {
		at, _ := t.Index(word) // all tables have it
		row := rows.RawRowView(i)
		for k, v := range normalized[at*t.Dim : (at+1)*t.Dim] {
			row[k] = float64(v)
			mean[k] += float64(v) / float64(len(words))
		}
	}
	for i := range words {
		floats.Sub(rows.RawRowView(i), mean)
	}
	return rows
}

// rotationOnto returns the orthogonal matrix R, (N, N), for which run·R is nearest to
// the target.
func rotationOnto(target, run *mat.Dense) (*mat.Dense, error) {
	var cross mat.Dense
	cross.Mul(run.T(), target)
	var svd mat.SVD
	if !svd.Factorize(&cross, mat.SVDFull) {
		return nil, errors.New("the vectors of two runs cannot be aligned: the singular value decomposition did not converge")
	}
	var u, v, rotation mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	rotation.Mul(&u, v.T())
	return &rotation, nil
}
