package graph

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An Encoder composes the vectors of the vocabulary from parameters of its own.
// It takes the place of the word table W in either model. Package subword has
// one, the CNN.
type Encoder interface {
	// Words is V, Dim is N.
	Words() int
	Dim() int
	// Parameters lists the matrices that training changes, live, in a fixed order.
	Parameters() []Parameter
	// Randomize sets the parameters to the start of training.
	Randomize(seed uint64)
	// Rows adds the vectors of some words, (B, N), to the graph of the
	// parameters' nodes, which come in their order. The vectors must be
	// differentiable in every parameter and must not depend on the threads. batch
	// holds the words' numbers and may change between runs; nil is the whole
	// vocabulary.
	Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error)
	// Bytes estimates the memory of Rows of the whole vocabulary, and the memory
	// that the gradient adds.
	Bytes() (rows, gradient int64)
}

// Starting encoders have a vector of each word's own, (V, N), live, which can start from a given one.
type Starting interface {
	Own() []float32
}

// startEncoder sets the parameters of the encoder to the start of training, and C to the given one. Beside a given vector
// what the new encoder composes is small.
func (c Options) startEncoder(contexts *table) {
	c.Encoder.Randomize(c.Seed)
	if words, ok := c.Encoder.(Starting); ok && c.Start != nil {
		c.Start(words.Own(), contexts.data)
	}
}

// takeGraph counts the memory of the graph of the whole vocabulary, with its gradient.
func (c Options) takeGraph() {
	rows, gradient := c.Encoder.Bytes()
	c.Account.Take(trainer.ForWork, rows+gradient)
}

// A Parameter is a matrix of an encoder.
type Parameter struct {
	Name  string
	Value *tensor.Dense // (rows, columns), float32
	Rate  float64       // learning rate relative to the tables' rate; 0 means 1

	// Which rows a step leaves alone; the zero value: none.
	OfWords bool // row i is of word i alone: as a row of W, it is left alone where tempered samples give the word no share
	Sparse  bool // a row belongs to few words: it is left alone where its gradient is zero
}

// composer is an encoder in training. Gorgonia derives the
// gradients of the parameters; the optimizers update them.
type composer struct {
	encoder    Encoder
	words      *table // the rows of the vocabulary, copied; it has no optimizer
	parameters []Parameter
	gradients  gorgonia.Nodes
	trained    []parameterOptimizer
	team       *team.Team
	threads    int
	sparse     bool // rows without a gradient are left alone: most of them have none

	// updates says how often a word's own row was updated, with this step; 0: it is left alone. nil: every
	// row is updated in every step.
	updates func(word int) int
}

func newComposer(c Options) (*composer, error) {
	e := c.Encoder
	s := &composer{
		encoder: e, parameters: e.Parameters(), threads: c.Threads,
		words: newFrozen("words", e.Words(), c),
	}
	for _, p := range s.parameters {
		c.Account.Take(trainer.ForTables, 4*int64(p.Value.Shape().TotalSize())) // resident when they are randomized
		o, err := optim.New(c.Optimizer, p.Value.Shape()[0], p.Value.Shape()[1])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		s.trained = append(s.trained, parameterOptimizer{o, cmp.Or(p.Rate, 1)})
	}
	return s, c.Account.Err()
}

// compose adds the parameters and the rows of a batch, or of all words, to a
// graph.
func (s *composer) compose(g *gorgonia.ExprGraph, batch []uint32) (nodes gorgonia.Nodes, rows *gorgonia.Node, err error) {
	for _, p := range s.parameters {
		nodes = append(nodes, matrix(g, p.Name, p.Value))
	}
	if rows, err = s.encoder.Rows(nodes, batch, s.threads); err != nil {
		return nil, nil, fmt.Errorf("build the graph of the encoder: %w", err)
	}
	want := tensor.Shape{s.encoder.Words(), s.encoder.Dim()}
	if batch != nil {
		want[0] = len(batch)
	}
	if !rows.Shape().Eq(want) {
		return nil, nil, fmt.Errorf("the encoder's rows are %v instead of %v", rows.Shape(), want)
	}
	return nodes, rows, nil
}

func (s *composer) optimizers() []parameterOptimizer { return s.trained }

// differentiate adds the gradients of the parameters to the graph of a loss, and
// compiles it.
func (s *composer) differentiate(g *gorgonia.ExprGraph, loss *gorgonia.Node, nodes gorgonia.Nodes) (*machine, error) {
	var err error
	if s.gradients, err = gorgonia.Grad(loss, nodes...); err != nil {
		return nil, fmt.Errorf("differentiate the graph of the encoder: %w", err)
	}
	return newMachine(g)
}

// update updates all parameters by the gradients of the last run.
func (s *composer) update() error {
	for i, p := range s.parameters {
		gradient, err := floatsOf(s.gradients[i])
		if err == nil {
			err = s.updateParameter(s.trained[i], p, gradient)
		}
		if err != nil {
			return fmt.Errorf("update %s: %w", p.Name, err)
		}
	}
	return nil
}

// keep copies rows that were computed into the table of words.
func (s *composer) keep(rows *gorgonia.Node) error {
	values, err := floatsOf(rows)
	if err != nil {
		return fmt.Errorf("rows of the encoder: %w", err)
	}
	copy(s.words.data, values)
	return nil
}

// refresh computes all rows anew, in the part of a graph that leads to them.
func (s *composer) refresh(g *gorgonia.ExprGraph, rows *gorgonia.Node) (err error) {
	defer operation.Recovered("compile the graph of the encoder", &err)
	m, err := newMachine(g.SubgraphRoots(rows))
	if err != nil {
		return err
	}
	if err = m.run(); err == nil {
		err = s.keep(rows)
	}
	return errors.Join(err, m.close())
}

// updateParameter updates one parameter, row by row.
func (s *composer) updateParameter(o optim.Optimizer, p Parameter, gradient []float32) error {
	const together = 64
	rows, n, w := p.Value.Shape()[0], p.Value.Shape()[1], p.Value.Float32s()
	sparse, ofWords := s.sparse || p.Sparse, p.OfWords && s.updates != nil
	return s.team.Each(rows, together, func(_, i int) {
		g := gradient[i*n:][:n]
		switch {
		case ofWords:
			if updates := s.updates(i); updates > 0 {
				o.UpdateMean(i, updates, 1, w[i*n:][:n], g) // g is of all samples
			}
		case !sparse || simd.Dot(g, g) != 0:
			o.UpdateRow(i, w[i*n:][:n], g)
		}
	})
}

// state lists the parameters and the moments of their optimizers.
func (s *composer) state() []trainer.Tensor {
	var all []trainer.Tensor
	for i, p := range s.parameters {
		all = append(all, tensors(p.Name, p.Value.Float32s(), s.trained[i])...)
	}
	return all
}

// floatsOf returns the values of a node that has been run.
func floatsOf(node *gorgonia.Node) ([]float32, error) {
	d, ok := node.Value().(*tensor.Dense)
	if !ok || d.Dtype() != tensor.Float32 {
		return nil, fmt.Errorf("the node's value is %v, not a float32 matrix", node.Value())
	}
	return d.Float32s(), nil
}
