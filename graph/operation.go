package graph

import (
	"fmt"

	"github.com/chewxy/hm"
	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// lossOperation is the base of operations from two matrices to a loss.
type lossOperation struct{ operation.Base }

func newLossOperation(name string) lossOperation { return lossOperation{operation.New(name, 2)} }

// Type is matrix -> matrix -> scalar.
func (lossOperation) Type() hm.Type {
	return hm.NewFnType(operation.MatrixType, operation.MatrixType, tensor.Float32)
}

// InferShape says scalar.
func (lossOperation) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return tensor.ScalarShape(), nil
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
