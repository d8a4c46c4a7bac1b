package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// inverted returns, for each of n symbols, the words that have it, in order and as often as they have it.
func (s *Spellings) inverted(n int) *Spellings {
	users := &Spellings{starts: make([]int, n+1)}
	for word := range s.Len() {
		for _, symbol := range s.Word(word) {
			users.starts[symbol+1]++
		}
	}
	for i := range n {
		users.starts[i+1] += users.starts[i]
	}
	users.symbols = make([]uint32, users.starts[n])
	for word := s.Len() - 1; word >= 0; word-- { // from the ends, which become starts
		for _, symbol := range s.Word(word) {
			users.starts[symbol+1]--
			users.symbols[users.starts[symbol+1]] = uint32(word)
		}
	}
	copy(users.starts, users.starts[1:])
	users.starts[n] = len(users.symbols)
	return users
}

// SumRows adds to a graph, for each word of a batch, or for all if that is nil, the sum of the rows of a table (U, N)
// that are the word's symbols:
//
//	result: (B, N), row i the sum over symbols u of word i of table[u]
func SumRows(words *Spellings, table *gorgonia.Node, batch []uint32, threads int) (*gorgonia.Node, error) {
	if table.Shape().Dims() != 2 {
		return nil, fmt.Errorf("sums of rows of a table %v: it must be a matrix", table.Shape())
	}
	rows, n := table.Shape()[0], table.Shape()[1]
	s := &rowSums{of: words.of(batch), team: team.New(threads)}
	if batch == nil {
		s.users = words.inverted(rows)
	}
	s.result = newMatrix(s.of.Len(), n)
	return operation.Apply("sum of rows", gorgonia.Nodes{table}, s.of.Len(), n, s.forward, s.backward)
}

// rowSums is the operation of SumRows. The gradient of a row of the table is the sum of the gradients of its words. So
// it is a sum of rows, too, in a fixed order.
type rowSums struct {
	of       *Spellings
	users    *Spellings // the words of each row; nil: of changes, so every run finds them
	team     *team.Team
	result   *tensor.Dense
	gradient *tensor.Dense // nil until backward is called
}

func (s *rowSums) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	return s.result, s.sum(s.result, in[0], s.of)
}

func (s *rowSums) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if s.gradient == nil {
		s.gradient = newMatrix(in[0].Shape()[0], in[0].Shape()[1])
	}
	users := s.users
	if users == nil {
		users = s.of.inverted(in[0].Shape()[0])
	}
	return []*tensor.Dense{s.gradient}, s.sum(s.gradient, gradient, users)
}

func (s *rowSums) sum(dst, table *tensor.Dense, lists *Spellings) error {
	to, from, n := dst.Float32s(), table.Float32s(), dst.Shape()[1]
	all := make([]ones, s.team.Threads())
	return eachBlock(s.team, lists.Len(), func(worker, first, last int) {
		for i := first; i < last; i++ {
			all[worker].sum(to[i*n:][:n], from, lists.Word(i))
		}
	})
}

// ones are coefficients of sums, as many as were needed so far.
type ones struct{ values []float32 }

// sum writes the sum of rows of the table to out.
func (o *ones) sum(out, table []float32, rows []uint32) {
	for len(o.values) < len(rows) {
		o.values = append(o.values, 1)
	}
	simd.Combine(out, o.values[:len(rows)], table, rows)
}
