package cooccurrence

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// SVDOptions says how a matrix is factored.
type SVDOptions struct {
	Dim     int // N: singular values kept
	Units   int // blocks of the Krylov space; 0: SVDUnits
	Seed    uint64
	Threads int

	Account *trainer.Account // gives the memory; may be nil
}

// block is the width of a block of the Krylov space.
const block = 16

// SVDUnits is the number of blocks with which all singular values of a text's matrix are exact
// to about 1e-6, for a vocabulary of so many words. With 3·dim in place of 4·dim the last of 100
// values are off by up to 2e-4 (benchmarks/correctness).
func SVDUnits(dim, rows int) int {
	return (min(4*dim+8*block, rows) + block - 1) / block
}

// An SVD is a truncated singular value decomposition, computed by block Lanczos with full
// reorthogonalization (Golub and Van Loan, "Matrix Computations", section 10.3.6): unit j
// multiplies block j of an orthonormal basis Q of the Krylov space by A Aᵀ, and what is new
// in the product becomes block j+1. The largest eigenvectors of Qᵀ A Aᵀ Q are in good
// approximation those of A Aᵀ.
//
// It implements trainer.Trainer; the learning rate has no effect.
type SVD struct {
	options SVDOptions
	a, at   *Matrix
	rows    int
	squares float64 // the sum of all squared entries

	basis     []float32 // Q, block after block, each (V, block)
	projected []float32 // Qᵀ A Aᵀ Q; block (i, j) for i <= j is at (i*Units + j) * block²
	done      int       // units

	words, contexts []float32
	values          []float64 // singular values of the tables
	fresh           bool      // the tables are those of the units done

	scratch, product []float32 // (V, block) each
}

// NewSVD factors a matrix, which it keeps.
func NewSVD(m *Matrix, o SVDOptions) (*SVD, error) {
	if o.Dim < 1 || o.Threads < 1 {
		return nil, errors.New("cooccurrence: dimension and threads must be at least 1")
	}
	s := allocateSVD(m.Rows(), m.Entries(), o)
	if err := o.Account.Err(); err != nil {
		return nil, err
	}
	s.a, s.at = m, m.transpose()
	for _, row := range m.values {
		for _, x := range row {
			s.squares += float64(x) * float64(x)
		}
	}
	s.Reset()
	return s, nil
}

// PlanSVD asks an account for what NewSVD takes, beside its matrix of so many rows and entries.
func PlanSVD(a *trainer.Account, rows int, entries int64, o SVDOptions) {
	o.Account = a
	allocateSVD(rows, entries, o)
}

// allocateSVD is NewSVD without the matrices.
func allocateSVD(rows int, entries int64, o SVDOptions) *SVD {
	if o.Units == 0 {
		o.Units = SVDUnits(o.Dim, rows)
	}
	a, n := o.Account, o.Units*block
	a.Take(ForMatrix, bytesOf(rows, entries))      // the transposed one
	a.Take(trainer.ForWork, 2*8*int64(n)*int64(n)) // Refresh: a matrix and its eigenvectors
	return &SVD{
		options: o, rows: rows,
		basis:     a.Floats(trainer.ForWork, n*rows),
		projected: a.Floats(trainer.ForWork, n*n),
		words:     a.Floats(trainer.ForTables, rows*o.Dim),
		contexts:  a.Floats(trainer.ForTables, rows*o.Dim),
		scratch:   a.Floats(trainer.ForWork, rows*block),
		product:   a.Floats(trainer.ForWork, rows*block),
	}
}

// Units implements trainer.Trainer.
func (s *SVD) Units() int { return s.options.Units }

// Advance implements trainer.Trainer. The report's pairs are the entries that were
// multiplied; its loss, for each of them, is the share of the matrix's squared entries that
// lies outside of the Krylov space.
func (s *SVD) Advance(ctx context.Context, unit int, _ float64) (trainer.Report, error) {
	q := s.blockOf(unit)
	if err := s.multiply(ctx, s.at, s.scratch, q, block); err != nil {
		return trainer.Report{}, err
	}
	if err := s.multiply(ctx, s.a, s.product, s.scratch, block); err != nil {
		return trainer.Report{}, err
	}
	// The second time removes what rounding left of the blocks.
	for again := range 2 {
		for i := range unit + 1 {
			t := s.gram(s.blockOf(i), s.product)
			if again == 0 {
				copy(s.projectedBlock(i, unit), t)
			}
			s.subtract(s.product, s.blockOf(i), t)
		}
	}
	if unit+1 < s.options.Units {
		next := s.blockOf(unit + 1)
		copy(next, s.product)
		s.orthonormalize(next, unit)
	}
	s.done, s.fresh = unit+1, false
	pairs := float64(2 * block * s.a.Entries())
	return trainer.Report{Pairs: pairs, Loss: pairs * s.outside()}, ctx.Err()
}

// outside returns the share of the squared entries of A that are not in Qᵀ A.
func (s *SVD) outside() float64 {
	if s.squares == 0 {
		return 0
	}
	inside := 0.0
	for j := range s.done {
		for k := range block {
			inside += float64(s.projectedBlock(j, j)[k*block+k])
		}
	}
	return max(1-inside/s.squares, 0)
}

// Tables implements trainer.Trainer. Refresh brings them up to date.
func (s *SVD) Tables() (words, contexts []float32) { return s.words, s.contexts }

// State implements trainer.Trainer.
func (s *SVD) State() []trainer.Tensor {
	return []trainer.Tensor{
		{Name: "words", Data: s.words}, {Name: "contexts", Data: s.contexts},
		{Name: "svd.basis", Data: s.basis}, {Name: "svd.projected", Data: s.projected},
	}
}

// Reset implements trainer.Trainer: the first block is random. No more rows than a block
// has columns begin with unit vectors: a random square matrix may be nearly singular, and
// its block would lack a direction.
func (s *SVD) Reset() {
	clear(s.projected)
	first := s.blockOf(0)
	if s.rows <= block {
		clear(first)
		for i := range s.rows {
			first[i*block+i] = 1
		}
	} else {
		bits := make([]uint32, len(first))
		simd.Philox(bits, s.options.Seed, uint64(corpus.StreamInitWords), 0)
		for i := range first {
			first[i] = float32(bits[i]>>8)/(1<<24) - 0.5
		}
		s.orthonormalize(first, -1)
	}
	s.done, s.fresh = 0, false
}

// Close implements trainer.Trainer.
func (s *SVD) Close() error { return nil }

func (s *SVD) blockOf(j int) []float32 { return s.basis[j*s.rows*block:][:s.rows*block] }

func (s *SVD) projectedBlock(i, j int) []float32 {
	return s.projected[(i*s.options.Units+j)*block*block:][:block*block]
}

// multiply sets out to m times x, both with rows of n values.
func (s *SVD) multiply(ctx context.Context, m *Matrix, out, x []float32, n int) error {
	const rows = 64
	return parallel.Do(ctx, s.options.Threads, (s.rows+rows-1)/rows, func(task int) {
		for i := task * rows; i < min((task+1)*rows, s.rows); i++ {
			contexts, values := m.Row(i)
			simd.Combine(out[i*n:][:n], values, x, contexts)
		}
	})
}

// rowsOfTask is how many rows of a table a task sums; the sums of tasks are added in
// order, in double precision.
const rowsOfTask = 2048

// gram returns xᵀ y for two blocks, (block, block).
func (s *SVD) gram(x, y []float32) []float32 {
	const chunk = 128 // rows that are summed in single precision
	sums := make([][block * block]float64, (s.rows+rowsOfTask-1)/rowsOfTask)
	parallel.Ranges(s.options.Threads, s.rows, rowsOfTask, func(first, end int) {
		var part [block * block]float32
		for i := first; i < end; i += chunk {
			n := min(chunk, s.rows-i)
			clear(part[:])
			simd.AddProduct(part[:], block, simd.Transposed(x[i*block:], block), y[i*block:], block, block, block, n)
			for k, v := range &part {
				sums[first/rowsOfTask][k] += float64(v)
			}
		}
	})
	out := make([]float32, block*block)
	for k := range out {
		total := 0.0
		for task := range sums {
			total += sums[task][k]
		}
		out[k] = float32(total)
	}
	return out
}

// subtract subtracts x t from y, for blocks x and y and t of (block, block).
func (s *SVD) subtract(y, x, t []float32) {
	negative := make([]float32, len(t))
	for i, v := range t {
		negative[i] = -v
	}
	s.addProduct(y, x, negative, block)
}

// addProduct adds x t to out, for a block x, t (block, n) and out (V, n).
func (s *SVD) addProduct(out, x, t []float32, n int) {
	parallel.Ranges(s.options.Threads, s.rows, rowsOfTask, func(i, end int) {
		simd.AddProduct(out[i*n:], n, simd.RowMajor(x[i*block:], block), t, n, end-i, n, block)
	})
}

// orthonormalize makes the columns of a block orthonormal to each other and to the blocks
// up to last. A column that depends on others becomes 0, which adds nothing to the space.
// Twice is enough for single precision.
func (s *SVD) orthonormalize(x []float32, last int) {
	for range 2 {
		for i := range last + 1 {
			s.subtract(x, s.blockOf(i), s.gram(s.blockOf(i), x))
		}
		g := s.gram(x, x)
		vectors, values := eigen(block, func(i, j int) float32 { return g[i*block+j] })
		t := make([]float32, block*block)
		largest := values[block-1]
		for k, value := range values {
			if value > largest*1e-10 && value > 0 {
				for i := range block {
					t[i*block+k] = float32(vectors.At(i, k) / math.Sqrt(value))
				}
			}
		}
		copy(s.scratch, x)
		clear(x)
		s.addProduct(x, s.scratch, t, block)
	}
}

// eigen returns the eigenvectors, as columns, and the eigenvalues, ascending, of a
// symmetric matrix (n, n) of which the upper half is read.
func eigen(n int, at func(i, j int) float32) (vectors mat.Matrix, values []float64) {
	symmetric := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			symmetric.SetSym(i, j, float64(at(i, j)))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(symmetric, true) { // only if a value is no number
		return mat.NewDense(n, n, nil), make([]float64, n)
	}
	return e.RawQ(), e.Values(nil) // not a copy
}

// Refresh implements trainer.Composing: it makes the tables from the basis.
func (s *SVD) Refresh() error {
	if s.fresh || s.done == 0 { // nothing was trained since the tables were made or restored
		return nil
	}
	n := s.done * block
	dim := s.options.Dim
	vectors, _ := eigen(n, func(i, j int) float32 { return s.projectedBlock(i/block, j/block)[i%block*block+j%block] })
	clear(s.words)
	for j := range s.done {
		t := make([]float32, block*dim)
		for r := range block {
			for k := range min(dim, n) { // eigenvalues ascend
				t[r*dim+k] = float32(vectors.At(j*block+r, n-1-k))
			}
		}
		s.addProduct(s.words, s.blockOf(j), t, dim)
	}
	if err := s.multiply(context.Background(), s.at, s.contexts, s.words, dim); err != nil {
		return err
	}
	s.scale()
	s.fresh = true
	return nil
}

// scale takes the singular values from the columns of contexts, which are Aᵀ U = V S, and
// makes U S^p and V S^(1-p) of U and V S.
func (s *SVD) scale() {
	dim := s.options.Dim
	squares := make([]float64, dim)
	for i := range s.rows {
		for k, x := range s.contexts[i*dim:][:dim] {
			squares[k] += float64(x) * float64(x)
		}
	}
	s.values = make([]float64, dim)
	words, contexts := make([]float32, dim), make([]float32, dim)
	for k, square := range squares {
		s.values[k] = math.Sqrt(square)
		if square > 0 {
			words[k] = float32(math.Sqrt(s.values[k]))
			contexts[k] = float32(1 / math.Sqrt(s.values[k]))
		}
	}
	parallel.Ranges(s.options.Threads, s.rows, rowsOfTask, func(first, end int) {
		for i := first; i < end; i++ {
			for k := range dim {
				s.words[i*dim+k] *= words[k]
				s.contexts[i*dim+k] *= contexts[k]
			}
		}
	})
}
