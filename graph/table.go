package graph

import (
	"errors"

	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/tensor"
)

// table is one embedding table with its optimizer.
type table struct {
	name      string
	rows, dim int           // V, N
	data      []float32     // V x N
	dense     *tensor.Dense // the same memory
	optimizer optim.Optimizer
	method    optim.Method
}

func newTable(name string, rows int, c Options) (*table, error) {
	o, err := optim.New(c.Optimizer, rows, c.Dim)
	t := newFrozen(name, rows, c)
	t.optimizer, t.method = o, c.Optimizer.Method
	return t, errors.Join(err, c.Account.Err())
}

// tableOf returns a table of values that there are. A dry account gives its moments no memory.
func tableOf(name string, data []float32, c Options) (*table, error) {
	rows := len(data) / c.Dim
	o, err := optim.New(c.Optimizer, rows, c.Dim)
	return &table{name, rows, c.Dim, data, dense(data, rows, c.Dim), o, c.Optimizer.Method}, err
}

// newFrozen returns a table without an optimizer. It has no values if the account has no memory.
func newFrozen(name string, rows int, c Options) *table {
	t := &table{name: name, rows: rows, dim: c.Dim, data: c.Account.Floats(trainer.ForTables, rows*c.Dim)}
	if t.data != nil {
		t.dense = dense(t.data, rows, c.Dim)
	}
	return t
}

// start fills new tables: W random, C zero, and over them what the options
// say.
func start(words, contexts *table, c Options) {
	trainer.Randomize(words.data, words.dim, c.Seed)
	if c.Start != nil {
		c.Start(words.data, contexts.data)
	}
}

func (t *table) row(i int) []float32 { return t.data[i*t.dim:][:t.dim] }

// updateRow applies the begun optimizer step to one row.
func (t *table) updateRow(i int, gradient []float32) {
	t.optimizer.UpdateRow(i, t.row(i), gradient)
}

// state lists the tables and their moments.
func state(tables ...*table) []trainer.Tensor {
	var all []trainer.Tensor
	for _, t := range tables {
		all = append(all, tensors(t.name, t.data, t.optimizer)...)
	}
	return all
}
