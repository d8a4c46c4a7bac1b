package graph

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// lossOperation is the base of operations from two matrices to a loss, which is differentiable by the first.
type lossOperation struct{ operation.Base }

// InferShape says scalar.
func (lossOperation) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return tensor.ScalarShape(), nil
}

// DiffWRT says that there is a gradient for the first matrix only.
func (lossOperation) DiffWRT(inputs int) []bool {
	all := make([]bool, inputs)
	all[0] = true
	return all
}

// twoMatrices returns the first two inputs of an operation, float32 matrices
// with the same number of columns.
func twoMatrices(inputs []gorgonia.Value) (a, b *tensor.Dense, err error) {
	if len(inputs) < 2 {
		return nil, nil, fmt.Errorf("%d inputs instead of two matrices", len(inputs))
	}
	m, err := operation.Matrices(inputs[:2])
	if err != nil {
		return nil, nil, err
	}
	if m[0].Shape()[1] != m[1].Shape()[1] {
		return nil, nil, fmt.Errorf("inputs are %v and %v: the columns must agree", m[0].Shape(), m[1].Shape())
	}
	return m[0], m[1], nil
}

// lossGradient hands out the gradient that the operation of a loss has computed.
// Its inputs are the matrix that the gradient is for, the loss and the gradient
// of the loss.
type lossGradient struct {
	operation.Base
	gradient *tensor.Dense
}

// applyLossGradient adds the node that hands out the gradient of the first input of a loss.
func applyLossGradient(
	name string, inputs gorgonia.Nodes, loss, ofLoss *gorgonia.Node, gradient *tensor.Dense,
) (gorgonia.Nodes, error) {
	all, from := make(gorgonia.Nodes, len(inputs)), gorgonia.Nodes{inputs[0], loss, ofLoss}
	op := &lossGradient{operation.New("gradient of "+name, from, operation.MatrixType), gradient}
	node, err := gorgonia.ApplyOp(op, from...)
	if err != nil {
		return nil, fmt.Errorf("gradient of %s: %w", name, err)
	}
	all[0] = node
	return all, nil
}

func (d *lossGradient) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return d.gradient.Shape().Clone(), nil
}

func (d *lossGradient) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	scale, ok := inputs[2].Data().(float32)
	if !ok || math.IsNaN(float64(scale)) {
		return nil, fmt.Errorf("%v: the gradient of the loss is %v, not a float32", d, inputs[2])
	}
	if scale != 1 {
		g := d.gradient.Float32s()
		for i := range g {
			g[i] *= scale
		}
	}
	return d.gradient, nil
}
