package graph

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An Encoder composes the vectors of the vocabulary from parameters of its own.
// It takes the place of the word table W in either model. Package subword makes
// them, such as the CNN.
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

// Starting encoders have a vector of each word's own, (V, N), live, which they add to what they compose.
type Starting interface {
	Own() []float32
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

// encoderRows are the rows of an encoder. Here alone, between them and the parameters, Gorgonia differentiates.
type encoderRows struct {
	encoder    Encoder
	words      *table // what refresh computed; it has no optimizer
	parameters []*parameter
	team       *team.Team
	sparse     bool   // rows without a gradient are left alone: most of them have none
	seed       uint64 // of their start

	// updates says how often a word's own row was updated, with this step; 0: it is left alone. nil: every
	// row is updated in every step.
	updates func(word int) int

	graph    *gorgonia.ExprGraph // with the rows of the vocabulary
	rows     *gorgonia.Node
	composed *gorgonia.Node // rows of an iteration: of the vocabulary, or of a batch
}

// A parameter is in training.
type parameter struct {
	Parameter
	optimizer optim.Optimizer
	method    optim.Method
	node      *gorgonia.Node
}

func newEncoderRows(c Options, workers *team.Team) (*encoderRows, error) {
	s := &encoderRows{encoder: c.Encoder, words: newFrozen("words", c.Encoder.Words(), c), team: workers, seed: c.Seed}
	for _, p := range s.encoder.Parameters() {
		c.Account.Take(trainer.ForTables, 4*int64(p.Value.Shape().TotalSize())) // resident when they are randomized
		o, err := optim.New(c.Optimizer, p.Value.Shape()[0], p.Value.Shape()[1])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		s.parameters = append(s.parameters, &parameter{p, o, c.Optimizer.Method, nil})
	}
	return s, c.Account.Err()
}

func (s *encoderRows) compose(g *iteration, _ *step.Sampler) *gorgonia.Node {
	s.graph, s.rows = g.graph, s.composeBatch(g, nil)
	return s.rows
}

// composeBatch adds the parameters and the rows of a batch; nil: of all words.
func (s *encoderRows) composeBatch(g *iteration, batch []uint32) *gorgonia.Node {
	for _, p := range s.parameters {
		p.node = g.input(p.Name, p.Value)
	}
	s.composed = g.add(func() (*gorgonia.Node, error) { return s.checkedRows(s.nodes(), batch) })
	return s.composed
}

func (s *encoderRows) nodes() (all gorgonia.Nodes) {
	for _, p := range s.parameters {
		all = append(all, p.node)
	}
	return all
}

func (s *encoderRows) checkedRows(parameters gorgonia.Nodes, batch []uint32) (*gorgonia.Node, error) {
	rows, err := s.encoder.Rows(parameters, batch, s.team.Threads())
	if err != nil {
		return nil, fmt.Errorf("rows of the encoder: %w", err)
	}
	want := tensor.Shape{s.encoder.Words(), s.encoder.Dim()}
	if batch != nil {
		want[0] = len(batch)
	}
	if !rows.Shape().Eq(want) {
		return nil, fmt.Errorf("the encoder's rows are %v instead of %v", rows.Shape(), want)
	}
	return rows, nil
}

// update adds a node for each parameter. Gorgonia takes the gradient of the rows on to them.
func (s *encoderRows) update(g *iteration, _ *step.Sampler, gradient *gorgonia.Node, after ...*gorgonia.Node) {
	gradients := g.backpropagate(s.composed, gradient, s.nodes())
	for i, p := range s.parameters {
		work := func(in []*tensor.Dense) error {
			p.optimizer.Begin(g.step(), g.rate()*cmp.Or(p.Rate, 1))
			return s.updateParameter(p, in[1].Float32s())
		}
		inputs := append(gorgonia.Nodes{p.node, gradients[i], g.clock}, after...)
		inputs = append(inputs, gradients...) // which need the parameters as they were
		g.node("update "+p.Name+": "+string(p.method), p.Value, work, inputs...)
	}
}

// updateParameter updates one parameter, row by row.
func (s *encoderRows) updateParameter(p *parameter, gradient []float32) error {
	const together = 64
	rows, n, w := p.Value.Shape()[0], p.Value.Shape()[1], p.Value.Float32s()
	sparse, ofWords := s.sparse || p.Sparse, p.OfWords && s.updates != nil
	return s.team.Each(rows, together, func(_, i int) {
		g := gradient[i*n:][:n]
		switch {
		case ofWords:
			if updates := s.updates(i); updates > 0 {
				p.optimizer.UpdateMean(i, updates, 1, w[i*n:][:n], g) // g is of all samples
			}
		case !sparse || simd.Dot(g, g) != 0:
			p.optimizer.UpdateRow(i, w[i*n:][:n], g)
		}
	})
}

// refresh computes all rows anew, in the part of a graph that leads to them.
func (s *encoderRows) refresh() (err error) {
	defer operation.Recovered("compile the graph of the encoder", &err)
	m := newIteration()
	if s.rows == nil { // no graph of an iteration has them
		if s.compose(m, nil); m.err != nil {
			return m.err
		}
	}
	m.graph = s.graph.SubgraphRoots(s.rows)
	if err := m.compile(); err != nil {
		return err
	}
	if err = m.run(0, 0); err == nil {
		err = s.keep()
	}
	return errors.Join(err, m.Close())
}

// keep copies the rows of the last run to the table of words.
func (s *encoderRows) keep() error {
	values, ok := s.rows.Value().(*tensor.Dense)
	if !ok || values.Dtype() != tensor.Float32 {
		return fmt.Errorf("the encoder's rows are %v, not a float32 matrix", s.rows.Value())
	}
	copy(s.words.data, values.Float32s())
	return nil
}

// state lists the parameters and the moments of their optimizers.
func (s *encoderRows) state() []trainer.Tensor {
	var all []trainer.Tensor
	for _, p := range s.parameters {
		all = append(all, tensors(p.Name, p.Value.Float32s(), p.optimizer)...)
	}
	return all
}

func (s *encoderRows) randomize() { s.encoder.Randomize(s.seed) }
