//go:build gpu

package cl

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file knows how tables lie on the device: with float32 as rows of whole float4s, with
// half precision in the planes of planes.go.

// kernelSize returns the size of the kernels for the dimension: those for N up to 128 times
// it.
func (c Options) kernelSize() (int, error) {
	if !c.HalfPrecision {
		return cuda.KernelSize(c.Dim)
	}
	for _, size := range []int{1, 2, 3, 4, 6, 8} {
		if c.Dim <= 128*size {
			return size, nil
		}
	}
	return 0, fmt.Errorf("dimension is %d; the CUDA kernels take at most %d", c.Dim, cuda.MaxDim)
}

// tableBytes is the memory of a table, or of the plane of it that others read, and of what only the trainer of a row
// reads, on the device of a part.
func (c Options) tableBytes(dims, rows part) (table, own int) {
	row := 16 * dims.quads(c.Dim)
	if c.HalfPrecision {
		row = 2 * halfStride(c.Dim)
	}
	return row * c.Rows, row * max(rows.count(c.Rows), 1)
}

func (k *Kernels) sendTable(to table, from []float32) error {
	dim := k.options.Dim
	if !k.options.HalfPrecision {
		return k.part.send(to.values, from, dim)
	}
	high, low := split(from, dim)
	if err := cuda.Send(to.values, high); err != nil {
		return err
	}
	return cuda.Send(to.low, pickRows(low, k.rows, halfStride(dim)))
}

func (k *Kernels) receiveTable(to []float32, from table) error {
	dim := k.options.Dim
	if !k.options.HalfPrecision {
		if k.rows.number > 0 {
			return nil // all have the same
		}
		return k.part.receive(to, from.values, dim)
	}
	high := make([]uint16, k.options.Rows*halfStride(dim))
	low := make([]uint16, k.rows.count(k.options.Rows)*halfStride(dim))
	if err := cuda.Receive(high, from.values); err != nil {
		return err
	}
	if err := cuda.Receive(low, from.low); err != nil {
		return err
	}
	join(to, high, low, dim, k.rows)
	return nil
}

func (k *Kernels) sendMoments(to cu.DevicePtr, from []float32) error {
	dim := k.options.Dim
	from = pickRows(from, k.rows, dim)
	if !k.options.HalfPrecision {
		return k.part.send(to, from, dim)
	}
	return cuda.Send(to, narrow(from, dim))
}

func (k *Kernels) receiveMoments(to []float32, from cu.DevicePtr) error {
	if k.rows.of == 1 {
		return k.receiveOwn(to, from)
	}
	own := make([]float32, k.rows.count(k.options.Rows)*k.options.Dim)
	if err := k.receiveOwn(own, from); err != nil {
		return err
	}
	putRows(to, own, k.rows, k.options.Dim)
	return nil
}

func (k *Kernels) receiveOwn(to []float32, from cu.DevicePtr) error {
	dim := k.options.Dim
	if !k.options.HalfPrecision {
		return k.part.receive(to, from, dim)
	}
	values := make([]uint16, len(to)/dim*halfStride(dim))
	if err := cuda.Receive(values, from); err != nil {
		return err
	}
	widen(to, values, dim)
	return nil
}

// sendOfRows sends the second moments of rows.
func (k *Kernels) sendOfRows(to cu.DevicePtr, from []float32) error {
	return cuda.Send(to, pickRows(from, k.rows, 1))
}

func (k *Kernels) receiveOfRows(to []float32, from cu.DevicePtr) error {
	if k.part.number > 0 {
		return nil // all parts have the same, and receive at the same time
	}
	own := make([]float32, k.rows.count(len(to)))
	if err := cuda.Receive(own, from); err != nil {
		return err
	}
	putRows(to, own, k.rows, 1)
	return nil
}
