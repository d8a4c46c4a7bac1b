// Package operation helps to write operations of Gorgonia.
//
// Start at [Apply]. It makes an operation from two functions on matrices: the first
// computes the result, the second its gradients. Other operations embed [Base].
package operation

import (
	"fmt"
	"hash"
	"hash/fnv"
	"runtime"
	"sync/atomic"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Base implements a part of gorgonia.Op for the operations that embed it. They
// manage their own memory and call no foreign code.
type Base struct {
	id    uint32
	name  string
	types []hm.Type // of the inputs and of the result
}

var bases atomic.Uint32

// New returns the base of an operation on the given inputs with a result of the given type.
func New(name string, inputs gorgonia.Nodes, result hm.Type) Base {
	types := make([]hm.Type, 0, len(inputs)+1)
	for _, n := range inputs {
		types = append(types, n.Type())
	}
	return Base{bases.Add(1), name, append(types, result)}
}

// Arity returns the number of inputs.
func (b Base) Arity() int { return len(b.types) - 1 }

// Type returns the type of a function from the inputs to the result.
func (b Base) Type() hm.Type { return hm.NewFnType(b.types...) }

// ReturnsPtr returns false: Gorgonia must not edit the result in place.
func (b Base) ReturnsPtr() bool { return false }

// CallsExtern returns false: the operation does not use cgo.
func (b Base) CallsExtern() bool { return false }

// OverwritesInput returns -1: Gorgonia need not know which inputs an operation
// updates.
func (b Base) OverwritesInput() int { return -1 }

// WriteHash writes the name and the number of the operation. Gorgonia merges
// nodes of equal hash, so each operation has a number of its own.
func (b Base) WriteHash(h hash.Hash) { fmt.Fprintf(h, "%s #%d", b.name, b.id) }

// Hashcode returns a hash of the bytes of WriteHash.
func (b Base) Hashcode() uint32 {
	h := fnv.New32a()
	b.WriteHash(h)
	return h.Sum32()
}

func (b Base) String() string { return b.name }

// MatrixType is the type of a float32 matrix.
var MatrixType = gorgonia.TensorType{Dims: 2, Of: tensor.Float32}

// Matrices returns the inputs of an operation as matrices. It returns an error for
// an input that is not a matrix in row-major order. Gorgonia checks the types of values.
func Matrices(inputs []gorgonia.Value) ([]*tensor.Dense, error) {
	all := make([]*tensor.Dense, len(inputs))
	for i, v := range inputs {
		d, ok := v.(*tensor.Dense)
		if !ok || d.Dims() != 2 || d.DataOrder().IsColMajor() {
			return nil, fmt.Errorf("input %d is not a matrix in row-major order", i)
		}
		all[i] = d
	}
	return all, nil
}

// NewMachine compiles a graph for Gorgonia's tape machine. Gorgonia panics on some
// faults; they become errors.
//
// Gorgonia gives the machine a finalizer, for CUDA in builds that we do not make. It
// does nothing here, but Go never frees a machine with a finalizer whose operations lead
// back to it, nor the tables of these operations. So it goes.
func NewMachine(g *gorgonia.ExprGraph) (vm gorgonia.VM, err error) {
	defer Recovered("compile the graph", &err)
	vm = gorgonia.NewTapeMachine(g)
	runtime.SetFinalizer(vm, nil)
	return vm, nil
}

// Recovered turns a panic of Gorgonia into an error that names the work. Callers
// defer it.
func Recovered(doing string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("cannot %s: gorgonia panicked: %v", doing, p)
	}
}
