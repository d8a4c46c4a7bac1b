package graph

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/trainer"
	"gorgonia.org/tensor"
)

// table is one embedding table with its optimizer.
type table struct {
	name      string
	rows, dim int           // V, N
	data      []float32     // V x N
	dense     *tensor.Dense // the same memory
	optimizer optim.Optimizer
}

func newTable(name string, rows int, c Config) (*table, error) {
	o, err := optim.New(c.Optimizer, rows, c.Dim)
	if err != nil {
		return nil, err
	}
	data := memory.Floats(rows * c.Dim)
	return &table{name: name, rows: rows, dim: c.Dim, data: data, dense: dense(data, rows, c.Dim), optimizer: o}, nil
}

// newTables returns W and C at the start of training; see reset.
func newTables(rows int, c Config) (words, contexts *table, err error) {
	if words, err = newTable("words", rows, c); err != nil {
		return nil, nil, err
	}
	if contexts, err = newTable("contexts", rows, c); err != nil {
		return nil, nil, err
	}
	start(words, contexts, c)
	return words, contexts, nil
}

// start fills new tables: W random, C zero, and over them what the configuration
// says.
func start(words, contexts *table, c Config) {
	trainer.Randomize(words.data, words.dim, c.Seed)
	if c.Start != nil {
		c.Start(words.data, contexts.data)
	}
}

// reset puts W, C and moments back to the start of training.
func reset(words, contexts *table, c Config) {
	for _, s := range state(words, contexts) {
		clear(s.Data)
	}
	start(words, contexts, c)
}

func (t *table) row(i int) []float32 { return t.data[i*t.dim:][:t.dim] }

func (t *table) optimizers() []parameterOptimizer { return []parameterOptimizer{{t.optimizer, 1}} }

// updateRow applies the begun optimizer step to one row.
func (t *table) updateRow(i int, gradient []float32) {
	t.optimizer.UpdateRow(i, t.row(i), gradient)
}

// state lists the tables and their moments.
func state(tables ...*table) []trainer.Tensor {
	var all []trainer.Tensor
	for _, t := range tables {
		all = append(all, trainer.Tensor{Name: t.name, Data: t.data})
		for _, s := range t.optimizer.State() {
			all = append(all, trainer.Tensor{Name: t.name + "." + s.Name, Data: s.Data})
		}
	}
	return all
}
