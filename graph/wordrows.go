package graph

import (
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
)

// wordRows are what the rows of W are: rows of a table (ownRows), composed of parts (partRows), or of an encoder's parameters
// (encoderRows).
type wordRows interface {
	// compose brings the rows of some words up to date.
	compose(words []uint32) error
	// update moves what the words that occur are made of along their gradients, rows of (V, N). Word words[a] has
	// slots[a+1] - slots[a] samples.
	update(words, slots []uint32, gradients []float32) error
	// refresh brings all rows up to date.
	refresh() error
	// begin begins a step of the optimizers.
	begin(step int, rate float64)
	state() []trainer.Tensor
	randomize()
}

// updates counts how often each row of a table was updated: Adam corrects the bias of its moments by
// it. They are whole numbers, in the form of the other state.
type updates []float32

func (u updates) of(row int) int { return int(u[row]) }

// ownRows are rows of a table: W itself, or what a word has beside its parts.
type ownRows struct {
	name      string
	rows      []float32 // (V, N)
	dim       int
	optimizer optim.Optimizer
	updates   func(row int) int // with this one
	team      *team.Team
	start     func()
}

func (o *ownRows) compose([]uint32) error { return nil }

func (o *ownRows) refresh() error { return nil }

func (o *ownRows) begin(step int, rate float64) { o.optimizer.Begin(step, rate) }

func (o *ownRows) update(words, slots []uint32, gradients []float32) error {
	return o.team.Each(len(words), rowsTogether, func(_, a int) {
		row, samples := int(words[a]), int(slots[a+1]-slots[a])
		from, to := row*o.dim, (row+1)*o.dim
		o.optimizer.UpdateMean(row, o.updates(row), samples, o.rows[from:to], gradients[from:to])
	})
}

func (o *ownRows) state() []trainer.Tensor { return tensors(o.name, o.rows, o.optimizer) }

func (o *ownRows) randomize() { o.start() }

// encoderRows are the rows of an encoder, which are nodes of the iteration's graph: Gorgonia goes on from
// their gradients to those of the parameters.
type encoderRows struct {
	*composer
	graph *gorgonia.ExprGraph
	rows  *gorgonia.Node
	start func() // sets the parameters to the start of training
}

func (e *encoderRows) compose([]uint32) error { return nil }

func (e *encoderRows) begin(step int, rate float64) {
	for _, o := range e.trained {
		o.Begin(step, rate*o.relativeRate)
	}
}

func (e *encoderRows) update(_, _ []uint32, _ []float32) error {
	if err := e.keep(e.rows); err != nil {
		return err
	}
	return e.composer.update()
}

func (e *encoderRows) refresh() (err error) {
	defer operation.Recovered("build the graph of the encoder", &err)
	if e.rows == nil { // a device trains them
		e.graph = gorgonia.NewGraph()
		if _, e.rows, err = e.composer.compose(e.graph, nil); err != nil {
			return err
		}
	}
	return e.composer.refresh(e.graph, e.rows)
}

func (e *encoderRows) randomize() { e.start() }

// tensors lists a table and its moments.
func tensors(name string, data []float32, o optim.Optimizer) []trainer.Tensor {
	all := []trainer.Tensor{{Name: name, Data: data}}
	for _, s := range o.State() {
		all = append(all, trainer.Tensor{Name: name + "." + s.Name, Data: s.Data})
	}
	return all
}

// rowsTogether is how many rows of words or parts a worker takes at a time.
const rowsTogether = 32
