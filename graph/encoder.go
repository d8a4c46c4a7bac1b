package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/internal/trainer"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An Encoder composes the vectors of the vocabulary from parameters of its own,
// and takes the place of the word table W. Package subword has some.
type Encoder interface {
	// Words is V, Dim is N.
	Words() int
	Dim() int
	// Parameters lists the matrices that training changes, live, in a fixed order.
	Parameters() []Parameter
	// Randomize puts the parameters to where training starts.
	Randomize(seed uint64)
	// Rows adds to the graph of the parameters' nodes, given in their order, the
	// vectors of the vocabulary, (V, N), differentiable in every parameter. The
	// values must not depend on the threads.
	Rows(parameters gorgonia.Nodes, threads int) (*gorgonia.Node, error)
	// Bytes estimates the memory that Rows takes, and its gradient beside that.
	Bytes() (rows, gradient int64)
}

// A Parameter is a matrix of an encoder.
type Parameter struct {
	Name  string
	Value *tensor.Dense // (rows, columns), float32
}

// MemoryTwoStepWithEncoder estimates the bytes NewTwoStepWithEncoder takes, M
// and the encoder itself not counted: the contexts, the optimizers, the two
// graphs, the rows and their gradient.
func MemoryTwoStepWithEncoder(e Encoder, c Config) int64 {
	v, table := e.Words(), 4*int64(e.Words())*int64(c.Dim)
	rows, gradient := e.Bytes()
	bytes := table + c.Optimizer.Bytes(v, c.Dim) + 2*rows + gradient + 2*table + 2*int64(columnBlock)*int64(v)*4
	for _, p := range e.Parameters() {
		bytes += c.Optimizer.Bytes(p.Value.Shape()[0], p.Value.Shape()[1])
	}
	return bytes
}

// encoderStep trains an encoder against frozen right rows: step 1 of W2V-CL
// with composed words. Gorgonia derives the gradients of the parameters; the
// optimizers then update them, and the new rows are computed for step 2.
type encoderStep struct {
	*machine // loss and gradients
	loss     *SkipGram
	forward  *machine       // rows only
	rows     *gorgonia.Node // of forward

	encoder    Encoder
	words      *table // the rows, copied; it has no optimizer
	parameters []Parameter
	gradients  gorgonia.Nodes
	optimizers []*optim.Optimizer
	team       *team.Team
}

func newEncoderStep(e Encoder, right *table, t targets, workers *team.Team, c Config) (s *encoderStep, err error) {
	defer recovered("build the graph of the encoder", &err)
	data := memory.Floats(e.Words() * c.Dim)
	s = &encoderStep{
		encoder: e, parameters: e.Parameters(), team: workers,
		words: &table{name: "words", rows: e.Words(), dim: c.Dim, data: data, dense: dense(data, e.Words(), c.Dim)},
	}
	for _, p := range s.parameters {
		o, err := optim.New(c.Optimizer, p.Value.Shape()[0], p.Value.Shape()[1])
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		s.optimizers = append(s.optimizers, o)
	}
	g := gorgonia.NewGraph()
	nodes, rows, err := s.compose(g, c.Threads)
	if err != nil {
		return nil, err
	}
	s.loss = newSkipGram(t, workers, nil)
	loss, err := applySkipGram(s.loss, rows, matrix(g, right.name, right.dense))
	if err != nil {
		return nil, err
	}
	if s.gradients, err = gorgonia.Grad(loss, nodes...); err != nil {
		return nil, fmt.Errorf("differentiate the graph of the encoder: %w", err)
	}
	if s.machine, err = newMachine(g); err != nil {
		return nil, err
	}
	g = gorgonia.NewGraph()
	if _, s.rows, err = s.compose(g, c.Threads); err != nil {
		return nil, err
	}
	if s.forward, err = newMachine(g); err != nil {
		return nil, err
	}
	return s, s.refresh()
}

// compose adds the parameters and the rows to a graph.
func (s *encoderStep) compose(g *gorgonia.ExprGraph, threads int) (nodes gorgonia.Nodes, rows *gorgonia.Node, err error) {
	for _, p := range s.parameters {
		nodes = append(nodes, matrix(g, p.Name, p.Value))
	}
	if rows, err = s.encoder.Rows(nodes, threads); err != nil {
		return nil, nil, fmt.Errorf("build the graph of the encoder: %w", err)
	}
	if want := s.words.dense.Shape(); !rows.Shape().Eq(want) {
		return nil, nil, fmt.Errorf("the encoder's rows are %v instead of %v", rows.Shape(), want)
	}
	return nodes, rows, nil
}

func (s *encoderStep) begin(step int, rate float64) {
	for _, o := range s.optimizers {
		o.Begin(step, rate)
	}
}

func (s *encoderStep) run() (float64, error) {
	if err := s.machine.run(); err != nil {
		return 0, err
	}
	for i, p := range s.parameters {
		gradient, err := floatsOf(s.gradients[i])
		if err != nil {
			return 0, fmt.Errorf("gradient of %s: %w", p.Name, err)
		}
		if err := s.update(s.optimizers[i], p.Value, gradient); err != nil {
			return 0, fmt.Errorf("update %s: %w", p.Name, err)
		}
	}
	return s.loss.Loss(), s.refresh()
}

// update updates one parameter, row by row.
func (s *encoderStep) update(o *optim.Optimizer, value *tensor.Dense, gradient []float32) error {
	const block = 64
	rows, n, w := value.Shape()[0], value.Shape()[1], value.Float32s()
	return s.team.Do((rows+block-1)/block, func(_, b int) {
		for i := b * block; i < min((b+1)*block, rows); i++ {
			o.UpdateRow(i, w[i*n:][:n], gradient[i*n:][:n])
		}
	})
}

// refresh computes the rows of the parameters as they are.
func (s *encoderStep) refresh() error {
	if err := s.forward.run(); err != nil {
		return err
	}
	rows, err := floatsOf(s.rows)
	if err != nil {
		return fmt.Errorf("rows of the encoder: %w", err)
	}
	copy(s.words.data, rows)
	return nil
}

func (s *encoderStep) compiled() *machine { return s.machine }

// state lists the parameters and the moments of their optimizers.
func (s *encoderStep) state() []trainer.Tensor {
	var all []trainer.Tensor
	for i, p := range s.parameters {
		all = append(all, trainer.Tensor{Name: p.Name, Data: p.Value.Float32s()})
		for _, m := range s.optimizers[i].State() {
			all = append(all, trainer.Tensor{Name: p.Name + "." + m.Name, Data: m.Data})
		}
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
