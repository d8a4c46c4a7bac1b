package graph

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A machine runs one graph again and again in Gorgonia's tape machine.
type machine struct {
	graph *gorgonia.ExprGraph
	vm    gorgonia.VM
}

// newMachine compiles a graph. The tape machine runs operations on a goroutine of its
// own, where nobody else can catch a panic: our operations catch theirs themselves.
func newMachine(g *gorgonia.ExprGraph) (*machine, error) {
	vm, err := operation.NewMachine(g)
	if err != nil {
		return nil, err
	}
	return &machine{graph: g, vm: vm}, nil
}

func (m *machine) run() (err error) {
	defer operation.Recovered("run the graph", &err)
	// RunAll would do nothing the next time and say nothing. Nodes keep their values; the registers would keep the
	// memory of those that another machine computes anew.
	defer m.vm.Reset()
	if err := m.vm.RunAll(); err != nil {
		return fmt.Errorf("cannot run the graph: %w", err)
	}
	return nil
}

func (m *machine) close() error { return m.vm.Close() }

// matrix adds a named input node whose value is the tensor itself, not a copy.
func matrix(g *gorgonia.ExprGraph, name string, t *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(t.Shape()...), gorgonia.WithValue(t))
}

// dense wraps a slice as a matrix without copying it.
func dense(data []float32, rows, columns int) *tensor.Dense {
	return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(data))
}

// dot prints graphs in the Graphviz language, one after the other.
func dot(machines ...*machine) string {
	var b strings.Builder
	for _, m := range machines {
		b.WriteString(m.graph.ToDot())
	}
	return b.String()
}
