//go:build gpu

package cuda

import "gorgonia.org/cu"

// An allocator allocates until something fails.
type allocator struct {
	device *Device
	err    error
}

func (a *allocator) bytes(what string, bytes int) cu.DevicePtr {
	if a.err != nil {
		return 0
	}
	var p cu.DevicePtr
	p, a.err = a.device.allocate(what, int64(bytes))
	return p
}

func (a *allocator) floats(what string, n int) cu.DevicePtr { return a.bytes(what, 4*n) }

// split allocates a matrix in two parts, with rows as long as those of float32.
func (a *allocator) split(what string, rows, columns int) splitMatrix {
	stride := 4 * quads(columns)
	return splitMatrix{high: a.bytes(what, 2*rows*stride), low: a.bytes(what, 2*rows*stride), stride: uint64(stride)}
}

// matrix allocates a parameter with the state of the optimizer named method.
func (a *allocator) matrix(what string, rows, columns, stride int, method string) matrix {
	m := matrix{rows: rows, columns: columns, stride: stride, value: a.floats(what, rows*stride)}
	m.first = a.floats(what+", first moments", rows*stride)
	if method == "adam" {
		m.second = a.floats(what+", second moments", rows*stride)
	} else {
		m.secondOfRow = a.floats(what+", second moments", rows)
	}
	return m
}

func placed[T any](a *allocator, what string, values []T) cu.DevicePtr {
	if a.err != nil {
		return 0
	}
	var p cu.DevicePtr
	p, a.err = place(a.device, what, values)
	return p
}

// function returns a kernel that may have so much shared memory.
func (a *allocator) function(module, name string, shared int) cu.Function {
	if a.err != nil {
		return cu.Function{}
	}
	var f cu.Function
	if f, a.err = a.device.function(module, name); a.err == nil && shared > 48<<10 {
		a.err = allowShared(f, shared)
	}
	return f
}

// A matrix is a parameter with its optimizer's state, rows padded to stride.
type matrix struct {
	value, first, second, secondOfRow cu.DevicePtr
	rows, columns, stride             int
}

// splitMatrix, moments and parameter are Split, Moments and Parameter of subword.cuh.
type splitMatrix struct {
	high, low cu.DevicePtr
	stride    uint64
}

type moments struct{ beta1, oneMinusBeta1, beta2, oneMinusBeta2 float32 }

type parameter struct {
	value, first, second, secondOfRow, gradient cu.DevicePtr
	rows, columns, stride, _                    uint32
}

func (c CLConfig) moments() moments {
	return moments{float32(c.Beta1), float32(1 - c.Beta1), float32(c.Beta2), float32(1 - c.Beta2)}
}

func (m matrix) parameter(gradient cu.DevicePtr) parameter {
	return parameter{
		value: m.value, first: m.first, second: m.second, secondOfRow: m.secondOfRow, gradient: gradient,
		rows: uint32(m.rows), columns: uint32(m.columns), stride: uint32(m.stride),
	}
}
