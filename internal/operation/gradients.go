package operation

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Function is an operation on matrices whose result is a matrix.
type Function struct {
	Base
	shape tensor.Shape
	// forward computes the result.
	forward func(inputs []*tensor.Dense) (*tensor.Dense, error)
	// backward computes the gradients of all inputs from the gradient of the
	// result. Each gradient has the shape of its input. nil: no input has a gradient.
	backward func(inputs []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error)
}

// Apply adds an operation to the graph of the inputs and returns its result, a
// matrix (rows, columns). forward computes the result; backward computes the
// gradients of all inputs from the gradient of the result. Both return their own
// memory, which the next call may overwrite. backward runs after forward, with the
// same inputs. If it is nil, differentiation ends at the result.
func Apply(
	name string, inputs gorgonia.Nodes, rows, columns int,
	forward func(inputs []*tensor.Dense) (*tensor.Dense, error),
	backward func(inputs []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error),
) (node *gorgonia.Node, err error) {
	defer Recovered("add the "+name, &err)
	node, err = gorgonia.ApplyOp(&Function{New(name, inputs, MatrixType), tensor.Shape{rows, columns}, forward, backward}, inputs...)
	if err != nil {
		return nil, fmt.Errorf("add the %s: %w", name, err)
	}
	return node, nil
}

// InferShape returns the shape of the result.
func (f *Function) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return f.shape.Clone(), nil
}

// Do computes the result. It catches panics, because the tape machine runs it on a
// goroutine where no caller can.
func (f *Function) Do(values ...gorgonia.Value) (result gorgonia.Value, err error) {
	defer Recovered("run the "+f.name, &err)
	inputs, err := Matrices(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	d, err := f.forward(inputs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return d, nil
}

// DiffWRT says of each input whether it has a gradient: all have one, or none has.
func (f *Function) DiffWRT(inputs int) []bool {
	return slices.Repeat([]bool{f.backward != nil}, inputs)
}

// SymDiff adds a node for the gradient of each input. The first node computes all
// gradients. Each later node returns one of them; it has the first node as an input
// so that it runs later.
func (f *Function) SymDiff(inputs gorgonia.Nodes, output, gradient *gorgonia.Node) (gorgonia.Nodes, error) {
	if f.backward == nil {
		return make(gorgonia.Nodes, len(inputs)), nil
	}
	from := append(append(gorgonia.Nodes{}, inputs...), output, gradient)
	first := &gradients{Base: New("gradient of "+f.name, from, MatrixType), function: f}
	node, err := gorgonia.ApplyOp(first, from...)
	if err != nil {
		return nil, fmt.Errorf("gradient of the %s: %w", f.name, err)
	}
	nodes := gorgonia.Nodes{node}
	for i := 1; i < len(inputs); i++ {
		from := gorgonia.Nodes{inputs[i], nodes[0]}
		op := &laterGradient{New(fmt.Sprintf("gradient %d of %s", i, f.name), from, MatrixType), first, i}
		node, err := gorgonia.ApplyOp(op, from...)
		if err != nil {
			return nil, fmt.Errorf("gradient %d of the %s: %w", i, f.name, err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// gradients computes the gradients of all inputs and returns the first. Its own
// inputs are the function's inputs, the result and the result's gradient.
type gradients struct {
	Base
	function *Function
	results  []*tensor.Dense
}

func (g *gradients) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	return shapeOf(g, in[0])
}

func (g *gradients) Do(values ...gorgonia.Value) (result gorgonia.Value, err error) {
	defer Recovered("run the "+g.name, &err)
	inputs, err := Matrices(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	n := len(inputs) - 2
	if g.results, err = g.function.backward(inputs[:n], inputs[n+1]); err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	return g.results[0], nil
}

// laterGradient returns one of the gradients that first has computed. Its inputs
// are the function's input of that index and the first gradient.
type laterGradient struct {
	Base
	first *gradients
	index int
}

func (l *laterGradient) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	return shapeOf(l, in[0])
}

func (l *laterGradient) Do(...gorgonia.Value) (gorgonia.Value, error) {
	return l.first.results[l.index], nil
}

func shapeOf(op fmt.Stringer, in gorgonia.DimSizer) (tensor.Shape, error) {
	shape, ok := in.(tensor.Shape)
	if !ok {
		return nil, fmt.Errorf("%v: the shape of its input is unknown", op)
	}
	return shape.Clone(), nil
}
