package graph

import (
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// wordRows are what the rows of W are: rows of a table (ownRows), composed of parts (partRows), or by an encoder
// (encoderRows). They differ by the nodes that they add to the graph of an iteration. s lists the rows of an
// iteration, with their samples.
type wordRows interface {
	// compose adds the nodes that make the rows, (V, N), and returns these.
	compose(g *iteration, s *step.Sampler) *gorgonia.Node
	// update adds the nodes that move what the rows are made of, after the given nodes. gradient is that of the rows.
	update(g *iteration, s *step.Sampler, gradient *gorgonia.Node, after ...*gorgonia.Node)
	// refresh brings all rows up to date.
	refresh() error
	state() []trainer.Tensor
	randomize()
}

// ownRows are rows of a table: W itself, or what a word has beside its parts.
type ownRows struct {
	*table
	team *team.Team
	seed uint64
	node *gorgonia.Node
}

func (o *ownRows) compose(g *iteration, _ *step.Sampler) *gorgonia.Node {
	o.node = g.input(o.name, o.dense)
	return o.node
}

func (o *ownRows) refresh() error { return nil }

// update moves each row along its row of the gradient, (V, N). samples is how many the word has in step 1, or, in skip-gram, in
// the loss that the gradient is of.
func (o *ownRows) update(g *iteration, s *step.Sampler, gradient *gorgonia.Node, after ...*gorgonia.Node) {
	work := func(in []*tensor.Dense) error {
		o.optimizer.Begin(g.step(), g.rate())
		gradient := in[1].Float32s()
		return o.team.Each(s.Len(), rowsTogether, func(_, i int) {
			row := s.Row(i)
			o.move(row, len(s.Share(i)), gradient[row*o.dim:][:o.dim])
		})
	}
	inputs := append(gorgonia.Nodes{o.node, gradient, g.clock}, after...)
	g.node("update "+o.name+": "+string(o.method), o.dense, work, inputs...)
}

func (o *ownRows) randomize() { trainer.Randomize(o.data, o.dim, o.seed) }

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
