package graph

import (
	"fmt"
	"hash"
	"hash/fnv"
	"sync/atomic"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// operation is what all our Gorgonia operations have in common: they manage
// their own memory and call no foreign code.
type operation struct {
	id     uint32
	name   string
	inputs int
}

var operations atomic.Uint32

func newOperation(name string, inputs int) operation {
	return operation{operations.Add(1), name, inputs}
}

// Arity is the number of inputs.
func (o operation) Arity() int { return o.inputs }

// ReturnsPtr is false: Gorgonia must not edit the result in place.
func (o operation) ReturnsPtr() bool { return false }

// CallsExtern is false: no cgo.
func (o operation) CallsExtern() bool { return false }

// OverwritesInput is -1: what an operation updates is its own affair.
func (o operation) OverwritesInput() int { return -1 }

// WriteHash writes what tells this operation from all others. Gorgonia merges
// nodes of equal hash, so the instance is part of it.
func (o operation) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%s #%d", o.name, o.id) }

// Hashcode is the hash of WriteHash.
func (o operation) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o operation) String() string { return o.name }

var matrixType = gorgonia.TensorType{Dims: 2, Of: tensor.Float32}

// lossType is matrix -> matrix -> scalar.
func lossType() hm.Type { return hm.NewFnType(matrixType, matrixType, tensor.Float32) }

// twoMatrices returns the first two inputs of an operation, float32 matrices
// with the same number of columns.
func twoMatrices(inputs []gorgonia.Value) (a, b *tensor.Dense, err error) {
	if len(inputs) < 2 {
		return nil, nil, fmt.Errorf("%d inputs instead of two matrices", len(inputs))
	}
	var m [2]*tensor.Dense
	for i := range m {
		d, ok := inputs[i].(*tensor.Dense)
		if !ok || d.Dtype() != tensor.Float32 || d.Dims() != 2 || d.DataOrder().IsColMajor() {
			return nil, nil, fmt.Errorf("input %d is not a float32 matrix in row-major order", i)
		}
		m[i] = d
	}
	if m[0].Shape()[1] != m[1].Shape()[1] {
		return nil, nil, fmt.Errorf("inputs are %v and %v: the columns must agree", m[0].Shape(), m[1].Shape())
	}
	return m[0], m[1], nil
}
