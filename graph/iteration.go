package graph

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An iteration is one graph, which Gorgonia's tape machine runs again and again. Its nodes are tables,
// work of ours, and operations of Gorgonia in an encoder. The edges alone say the order: a node runs
// after its inputs.
//
// Work may change a matrix in place, as it does with tables. Then its result is the matrix itself. A
// node that needs the new values has that result as an input; a node that needs the old ones comes
// before the work. If a node writes something besides its result, such as windows.inside, its readers need an edge to it. Other
// results have memory of their own, which constructors took from the account: a plan runs them, and
// makes no graph.
type iteration struct {
	graph *gorgonia.ExprGraph
	clock *gorgonia.Node // (1, 2), the iteration's number and learning rate: an input of all that trains
	now   []float64      // the values of clock
	vm    gorgonia.VM    // nil until compile
	past  int            // iterations before the first, that moments come from
	err   error          // the first in building; later nodes are nil
}

func newIteration() *iteration {
	g := &iteration{graph: gorgonia.NewGraph(), now: make([]float64, 2)}
	g.clock = g.input("iteration and learning rate", tensor.New(tensor.WithShape(1, 2), tensor.WithBacking(g.now)))
	return g
}

// number is that of the iteration, counted from 1.
func (g *iteration) number() int { return int(g.now[0]) }

// step is the number of the iteration for optimizers: how often moments were updated, with this time.
func (g *iteration) step() int { return g.past + g.number() }

func (g *iteration) rate() float64 { return g.now[1] }

// input adds a named input node whose value is the tensor itself, not a copy.
func (g *iteration) input(name string, t *tensor.Dense) *gorgonia.Node {
	shape, value := gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t)
	return gorgonia.NewMatrix(g.graph, t.Dtype(), gorgonia.WithName(name), shape, value)
}

// node adds work that computes or changes the matrix result. Gorgonia does not differentiate it.
func (g *iteration) node(
	name string, result *tensor.Dense, work func(in []*tensor.Dense) error, inputs ...*gorgonia.Node,
) *gorgonia.Node {
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) { return result, work(in) }
	return g.add(func() (*gorgonia.Node, error) {
		return operation.Apply(name, inputs, result.Shape()[0], result.Shape()[1], forward, nil)
	})
}

// add adds a node, unless there was an error before.
func (g *iteration) add(node func() (*gorgonia.Node, error)) (n *gorgonia.Node) {
	defer operation.Recovered("build the graph", &g.err)
	if g.err == nil {
		n, g.err = node()
	}
	return n
}

// backpropagate adds the gradients of some nodes from that of a node that Gorgonia's operations make of them.
func (g *iteration) backpropagate(from, gradient *gorgonia.Node, of gorgonia.Nodes) (all gorgonia.Nodes) {
	g.add(func() (_ *gorgonia.Node, err error) {
		all, err = gorgonia.Backpropagate(gorgonia.Nodes{from}, gorgonia.Nodes{gradient}, of)
		return nil, err
	})
	if g.err != nil {
		return make(gorgonia.Nodes, len(of))
	}
	return all
}

// compile ends the building. The tape machine runs operations on a goroutine of its
// own, where nobody else can catch a panic: our operations catch theirs themselves.
func (g *iteration) compile() error {
	if g.err == nil {
		g.vm, g.err = operation.NewMachine(g.graph)
	}
	if g.err != nil {
		return fmt.Errorf("graph of an iteration: %w", g.err)
	}
	return nil
}

// run runs an iteration, counted from 1.
func (g *iteration) run(number int, rate float64) (err error) {
	defer operation.Recovered("run the graph", &err)
	g.now[0], g.now[1] = float64(number), rate
	// RunAll would do nothing the next time and say nothing. Nodes keep their values; the registers would keep the
	// memory of those that another machine computes anew.
	defer g.vm.Reset()
	if err := g.vm.RunAll(); err != nil {
		return fmt.Errorf("cannot run the graph: %w", err)
	}
	return nil
}

// DOT prints the graph in the Graphviz language: inputs are round, operations are boxes. Gorgonia's own picture is of the
// fields of each node.
func (g *iteration) DOT() string {
	var b strings.Builder
	b.WriteString("digraph iteration {\n")
	for _, n := range g.graph.AllNodes() {
		name, outline := n.Name(), "ellipse"
		if n.Op() != nil {
			name, outline = fmt.Sprint(n.Op()), "box"
		}
		fmt.Fprintf(&b, "\tn%d [shape=%s, label=%q];\n", n.ID(), outline, fmt.Sprintf("%s\n%v", name, n.Shape()))
		for inputs := g.graph.From(n.ID()); inputs.Next(); {
			fmt.Fprintf(&b, "\tn%d -> n%d;\n", inputs.Node().ID(), n.ID())
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// Close frees Gorgonia's memory.
func (g *iteration) Close() error { return g.vm.Close() }

// dense wraps a slice as a matrix without copying it.
func dense(data []float32, rows, columns int) *tensor.Dense {
	return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(data))
}
