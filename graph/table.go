package graph

import (
	"errors"

	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/tensor"
)

// table is one embedding table with its optimizer. In an iteration, which the optimizer begins, rows move, each once at most. One
// that does not move keeps its values and moments: it does not decay either.
type table struct {
	name      string
	rows, dim int           // V, N
	data      []float32     // V x N
	dense     *tensor.Dense // the same memory
	optimizer optim.Optimizer
	method    optim.Method

	counts  counter           // (V), how often each row has moved; nil: the table does not count
	updates func(row int) int // how often a row has moved, with this time; nil: the number of the iteration, of rows with one sample
}

func newTable(name string, rows int, c Options) (*table, error) {
	o, err := optim.New(c.Optimizer, rows, c.Dim)
	t := newFrozen(name, rows, c)
	t.optimizer, t.method = o, c.Optimizer.Method
	return t, errors.Join(err, c.Account.Err())
}

// newPositions returns the table of position weights. They do not decay: they start at 1.
func newPositions(c Options) (*table, error) {
	c.Optimizer.WeightDecay = 0
	return newTable(PositionsTensor, c.Positions, c)
}

// tableOf returns a table of values that there are. A dry account gives its moments no memory.
func tableOf(name string, data []float32, c Options) (*table, error) {
	rows := len(data) / c.Dim
	o, err := optim.New(c.Optimizer, rows, c.Dim)
	return &table{
		name: name, rows: rows, dim: c.Dim, data: data, dense: dense(data, rows, c.Dim),
		optimizer: o, method: c.Optimizer.Method,
	}, err
}

// newFrozen returns a table without an optimizer. It has no values if the account has no memory.
func newFrozen(name string, rows int, c Options) *table {
	t := &table{name: name, rows: rows, dim: c.Dim, data: c.Account.Floats(trainer.ForTables, rows*c.Dim)}
	if t.data != nil {
		t.dense = dense(t.data, rows, c.Dim)
	}
	return t
}

func (t *table) row(i int) []float32 { return t.data[i*t.dim:][:t.dim] }

// count has the table count how often each row moves.
func (t *table) count(counts counter) {
	t.counts, t.updates = counts, counts.next
}

// move moves a row along the mean gradient of so many samples; without samples the row stays. Adam corrects the bias of the row's
// moments by how often it moved.
func (t *table) move(row, samples int, gradient []float32) {
	switch {
	case samples == 0:
	case t.updates == nil:
		t.optimizer.UpdateRow(row, t.row(row), gradient)
	default:
		t.optimizer.UpdateMean(row, t.updates(row), samples, t.row(row), gradient)
	}
}

// A counter counts how often each row moved. The counts are whole numbers, in the form of the other state.
type counter []float32

// next counts a move.
func (c counter) next(row int) int {
	c[row]++
	return c.of(row)
}

func (c counter) of(row int) int { return int(c[row]) }

// state lists the table, its moments, and how often its rows moved, if it counts.
func (t *table) state() []trainer.Tensor {
	all := tensors(t.name, t.data, t.optimizer)
	if t.counts != nil {
		all = append(all, trainer.Tensor{Name: t.name + Updates, Data: t.counts})
	}
	return all
}
