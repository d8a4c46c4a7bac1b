//go:build gpu

package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// An allocator also allocates matrices.
type allocator struct{ cuda.Allocator }

func newAllocator(d *cuda.Device) *allocator { return &allocator{cuda.Allocator{Device: d}} }

func placed[T any](a *allocator, what string, values []T) cu.DevicePtr {
	return cuda.Placed(&a.Allocator, what, values)
}

// stride is the number of values from row to row.
func stride(columns int) int { return 4 * cuda.Quads(columns) }

// A matrix is a parameter with its optimizer's state, rows padded to stride.
type matrix struct {
	value, first, second, secondOfRow cu.DevicePtr
	rows, columns, stride             int
}

// matrix allocates a parameter with the state of an optimizer.
func (a *allocator) matrix(what string, rows, columns, stride int, method string) matrix {
	m := matrix{rows: rows, columns: columns, stride: stride, value: a.Floats(what, rows*stride)}
	first, second, ofRow := cl.Moments(method)
	if first {
		m.first = a.Floats(what+", first moments", rows*stride)
	}
	if second {
		m.second = a.Floats(what+", second moments", rows*stride)
	}
	if ofRow {
		m.secondOfRow = a.Floats(what+", second moments", rows)
	}
	return m
}

// A splitMatrix is Split of subword.cuh: a matrix in two parts.
type splitMatrix struct {
	high, low cu.DevicePtr
	stride    uint64
}

// split allocates a matrix in two parts, or narrow in one, with rows as long as rows of float32.
func (a *allocator) split(what string, rows, columns int, narrow bool) splitMatrix {
	n := stride(columns)
	m := splitMatrix{high: a.Bytes(what, 2*rows*n), stride: uint64(n)}
	if !narrow {
		m.low = a.Bytes(what, 2*rows*n)
	}
	return m
}

// A parameter is Parameter of subword.cuh.
type parameter struct {
	value, first, second, secondOfRow, gradient cu.DevicePtr
	rows, columns, stride, _                    uint32
}

func (m matrix) parameter(gradient cu.DevicePtr) parameter {
	return parameter{
		value: m.value, first: m.first, second: m.second, secondOfRow: m.secondOfRow, gradient: gradient,
		rows: uint32(m.rows), columns: uint32(m.columns), stride: uint32(m.stride),
	}
}

// args describes a matrix that is updated as a table.
func (m matrix) args(c cl.Config) cl.TableArgs {
	return cl.TableArgs{
		Left: uint64(m.value), First: uint64(m.first), Second: uint64(m.second), SecondOfRow: uint64(m.secondOfRow),
		Rows: uint32(m.rows), Quads: uint32(m.stride / 4), Columns: uint32(m.columns), Decays: c.Decays(),
	}
}

// A tensor is part of the state of training, rows padded to stride.
type tensor struct {
	at                    cu.DevicePtr
	rows, columns, stride int
}

// addTensors adds a parameter and the moments it has.
func (k *Kernels) addTensors(name string, m matrix) {
	for suffix, x := range map[string]tensor{
		"":               {m.value, m.rows, m.columns, m.stride},
		".first-moment":  {m.first, m.rows, m.columns, m.stride},
		".second-moment": {m.second, m.rows, m.columns, m.stride},
	} {
		if x.at != 0 {
			k.tensors[name+suffix] = x
		}
	}
	if m.secondOfRow != 0 {
		k.tensors[name+".second-moment"] = tensor{m.secondOfRow, m.rows, 1, 1}
	}
}

// transfer copies a tensor of the encoder or of words' own vectors.
func (k *Kernels) transfer(name string, values []float32, rows func(p cu.DevicePtr, columns, stride int) error) error {
	x, ok := k.tensors[name]
	if !ok || len(values) != x.rows*x.columns {
		return fmt.Errorf("copy %s: the encoder has no such tensor of %d values", name, len(values))
	}
	if err := k.device.Do(func() error { return rows(x.at, x.columns, x.stride) }); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
