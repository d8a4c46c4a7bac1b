package graph

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An iteration is one graph, which Gorgonia's tape machine runs again and again. Its nodes are tables, operations
// of Gorgonia, and work of ours. The edges alone say the order: a node runs after its inputs.
//
// Work may change a table in place. Then its result is the table itself. A node that needs the new values has that
// result as an input; a node that needs the old ones is itself an input of the work.
type iteration struct {
	graph *gorgonia.ExprGraph
	clock *gorgonia.Node // (1, 2), the iteration's number and learning rate: an input of all that trains
	begun []float64      // the values of clock
	vm    gorgonia.VM    // nil until compile
	err   error          // the first in building; later nodes are nil
}

func newIteration() *iteration {
	g := &iteration{graph: gorgonia.NewGraph(), begun: make([]float64, 2)}
	g.clock = g.input("iteration and learning rate", tensor.New(tensor.WithShape(1, 2), tensor.WithBacking(g.begun)))
	return g
}

// number is that of the iteration, counted from 1.
func (g *iteration) number() int { return int(g.begun[0]) }

// rate is the learning rate of the iteration.
func (g *iteration) rate() float64 { return g.begun[1] }

// input adds a named input node whose value is the tensor itself, not a copy.
func (g *iteration) input(name string, t *tensor.Dense) *gorgonia.Node {
	shape, value := gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t)
	return gorgonia.NewMatrix(g.graph, t.Dtype(), gorgonia.WithName(name), shape, value)
}

// node adds work that computes or changes the matrix result. Gradients end here.
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

// gradients adds the derivatives of a loss, as Gorgonia finds them. Unlike those of gorgonia.Grad, they may be of nodes
// that are no inputs, as composed rows are.
func (g *iteration) gradients(loss *gorgonia.Node, of gorgonia.Nodes) (all gorgonia.Nodes) {
	g.add(func() (_ *gorgonia.Node, err error) {
		one := g.graph.AddNode(gorgonia.NewConstant(float32(1)))
		all, err = gorgonia.Backpropagate(gorgonia.Nodes{loss}, gorgonia.Nodes{one}, of)
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
	g.begun[0], g.begun[1] = float64(number), rate
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
