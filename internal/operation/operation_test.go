package operation

import (
	"errors"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func matrix(g *gorgonia.ExprGraph, name string, values ...float32) *gorgonia.Node {
	d := tensor.New(tensor.WithShape(1, len(values)), tensor.WithBacking(values))
	return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(d.Shape()...), gorgonia.WithValue(d))
}

// multiply is the element-wise product of its inputs, with its gradients.
func multiply(t *testing.T, inputs gorgonia.Nodes) *gorgonia.Node {
	t.Helper()
	n := inputs[0].Shape()[1]
	result := tensor.New(tensor.WithShape(1, n), tensor.Of(tensor.Float32))
	product := func(to *tensor.Dense, of ...*tensor.Dense) {
		for i := range to.Float32s() {
			to.Float32s()[i] = 1
			for _, d := range of {
				to.Float32s()[i] *= d.Float32s()[i]
			}
		}
	}
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) {
		product(result, in...)
		return result, nil
	}
	backward := func(in []*tensor.Dense, g *tensor.Dense) (all []*tensor.Dense, err error) {
		for i := range in {
			d := tensor.New(tensor.WithShape(1, n), tensor.Of(tensor.Float32))
			others := append(append([]*tensor.Dense{g}, in[:i]...), in[i+1:]...)
			product(d, others...)
			all = append(all, d)
		}
		return all, nil
	}
	node, err := Apply("product", inputs, 1, n, forward, backward)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// Two functions of one name are two nodes, and every input gets its gradient.
func TestFunction(t *testing.T) {
	g := gorgonia.NewGraph()
	x, y, z := matrix(g, "x", 2, 3), matrix(g, "y", 5, 7), matrix(g, "z", 11, 13)
	first := multiply(t, gorgonia.Nodes{x, y, z})
	second := multiply(t, gorgonia.Nodes{first, x})
	loss := gorgonia.Must(gorgonia.Sum(second))
	gradients, err := gorgonia.Grad(loss, x, y, z)
	if err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()
	for range 2 {
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		// The loss is the product of x squared, y and z.
		want := [][]float32{{2 * 2 * 5 * 11, 2 * 3 * 7 * 13}, {4 * 11, 9 * 13}, {4 * 5, 9 * 7}}
		for i, w := range want {
			got := gradients[i].Value().(*tensor.Dense).Float32s()
			if got[0] != w[0] || got[1] != w[1] {
				t.Errorf("gradient %d is %v, want %v", i, got, w)
			}
		}
	}
}

// An error or a panic in a function is an error of the run.
func TestFunctionErrors(t *testing.T) {
	for says, forward := range map[string]func([]*tensor.Dense) (*tensor.Dense, error){
		"no luck": func([]*tensor.Dense) (*tensor.Dense, error) { return nil, errors.New("no luck") },
		"too far": func([]*tensor.Dense) (*tensor.Dense, error) { panic("too far") },
	} {
		g := gorgonia.NewGraph()
		if _, err := Apply("failure", gorgonia.Nodes{matrix(g, "x", 1)}, 1, 1, forward, nil); err != nil {
			t.Fatal(err)
		}
		vm := gorgonia.NewTapeMachine(g)
		if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
		vm.Close()
	}
	wrong := tensor.New(tensor.WithShape(2), tensor.Of(tensor.Float32))
	if _, err := Matrices([]gorgonia.Value{wrong}); err == nil {
		t.Error("a vector passes for a matrix")
	}
}
