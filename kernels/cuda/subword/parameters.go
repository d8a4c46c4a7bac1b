//go:build gpu

package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// An allocator also allocates matrices with the state of an optimizer.
type allocator struct {
	cuda.Allocator
	optimizer  cuda.Optimizer
	number, of int // of the devices of a group; 0, 1 of one
	steps      *cl.Kernels
	batches    bool // words are composed some at a time
}

func newAllocator(d *cuda.Device, o cuda.Optimizer) *allocator {
	return &allocator{Allocator: cuda.Allocator{Device: d}, optimizer: o, of: 1}
}

func placed[T any](a *allocator, what string, values []T) cu.DevicePtr {
	return cuda.Placed(&a.Allocator, what, values)
}

// number is 1 for true.
func number(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// stride is the number of values from row to row.
func stride(columns int) int { return 4 * cuda.Quads(columns) }

// A matrix is a parameter with its optimizer's state, rows padded to stride.
type matrix struct {
	value cu.DevicePtr
	cuda.State
	rows, columns, stride int
	own                   bool // the state is that of this device's rows
}

// matrix allocates a parameter.
func (a *allocator) matrix(what string, rows, columns, stride int) matrix {
	return matrix{value: a.Floats(what, rows*stride), State: a.State(a.optimizer.Method, rows, 4*stride), rows: rows, columns: columns, stride: stride}
}

// own returns how many of some rows are this device's.
func (a *allocator) own(rows int) int { return (rows - a.number + a.of - 1) / a.of }

type narrowMatrix = cl.Narrow

// narrow allocates a matrix of float16 numbers, with rows as long as rows of float32.
func (a *allocator) narrow(what string, rows, columns int) narrowMatrix {
	n := stride(columns)
	return narrowMatrix{Values: a.Bytes(what, 2*rows*n), Stride: uint64(n)}
}

// A parameter is Parameter of subword.cuh.
type parameter struct {
	value, first, second, secondOfRow, gradient cu.DevicePtr
	rows, columns, stride                       uint32
	rate                                        float32
}

// parameter describes a matrix that learns at a part of the rate of all parameters.
func (m matrix) parameter(gradient cu.DevicePtr, rate float64) parameter {
	return parameter{
		value: m.value, first: m.First, second: m.Second, secondOfRow: m.SecondOfRow, gradient: gradient,
		rows: uint32(m.rows), columns: uint32(m.columns), stride: uint32(m.stride),
		rate: float32(rate),
	}
}

// table describes a matrix that is updated as a table.
func (m matrix) table(o cuda.Optimizer) cuda.Table {
	return cuda.Table{
		Values: uint64(m.value), First: uint64(m.First), Second: uint64(m.Second), SecondOfRow: uint64(m.SecondOfRow),
		Rows: uint32(m.rows), Quads: uint32(m.stride / 4), Columns: uint32(m.columns), Decays: o.Decays(),
	}
}

// A tensor is part of the state of training, rows padded to stride.
type tensor struct {
	at                    cu.DevicePtr
	rows, columns, stride int
	own                   bool // the device has its rows alone
}

// parameters are tensors on a device, by name.
type parameters struct {
	device  *cuda.Device
	tensors map[string]tensor
}

// addTensors adds a parameter and the moments it has.
func (k parameters) addTensors(name string, m matrix) {
	for suffix, x := range map[string]tensor{
		"":               {m.value, m.rows, m.columns, m.stride, false},
		".first-moment":  {m.First, m.rows, m.columns, m.stride, m.own},
		".second-moment": {m.Second, m.rows, m.columns, m.stride, m.own},
	} {
		if x.at != 0 {
			k.tensors[name+suffix] = x
		}
	}
	if m.SecondOfRow != 0 {
		k.tensors[name+".second-moment"] = tensor{m.SecondOfRow, m.rows, 1, 1, m.own}
	}
}

// transfer copies a tensor of the encoder or of words' own vectors.
func (k parameters) transfer(name string, values []float32, rows func(x tensor) error) error {
	x, ok := k.tensors[name]
	if !ok || len(values) != x.rows*x.columns {
		return fmt.Errorf("copy %s: the encoder has no such tensor of %d values", name, len(values))
	}
	if err := k.device.Do(func() error { return rows(x) }); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
