//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// This file knows how the tables of CL lie on the device: with float32 as rows of
// whole float4s, with half precision in the planes of split.go.

// variant names the kernels for the dimension: those for N up to 128 times it.
func (c CLConfig) variant() (int, error) {
	if !c.HalfPrecision {
		return variant(c.Dim)
	}
	for _, f := range []int{1, 2, 4, 6, 8} {
		if c.Dim <= 128*f {
			return f, nil
		}
	}
	return 0, fmt.Errorf("dimension is %d; the CUDA kernels take at most 1024", c.Dim)
}

// tableBytes is the memory of a table, or one of its planes, and of moments.
func (c CLConfig) tableBytes() (table, moments int) {
	if c.HalfPrecision {
		plane := 2 * c.Rows * halfStride(c.Dim)
		return plane, plane
	}
	table = 16 * c.Rows * quads(c.Dim)
	return table, table
}

func (t *CL) sendTable(to clTable, from []float32) error {
	if !t.config.HalfPrecision {
		return sendTable(to.values, from, t.config.Dim)
	}
	high, low := split(from, t.config.Dim)
	if err := send(to.values, high); err != nil {
		return err
	}
	return send(to.low, low)
}

func (t *CL) receiveTable(to []float32, from clTable) error {
	if !t.config.HalfPrecision {
		return receiveTable(to, from.values, t.config.Dim)
	}
	high := make([]uint16, t.config.Rows*halfStride(t.config.Dim))
	low := make([]uint16, len(high))
	if err := receive(high, from.values); err != nil {
		return err
	}
	if err := receive(low, from.low); err != nil {
		return err
	}
	join(to, high, low, t.config.Dim)
	return nil
}

func (t *CL) sendMoments(to cu.DevicePtr, from []float32) error {
	if !t.config.HalfPrecision {
		return sendTable(to, from, t.config.Dim)
	}
	return send(to, narrow(from, t.config.Dim))
}

func (t *CL) receiveMoments(to []float32, from cu.DevicePtr) error {
	if !t.config.HalfPrecision {
		return receiveTable(to, from, t.config.Dim)
	}
	values := make([]uint16, t.config.Rows*halfStride(t.config.Dim))
	if err := receive(values, from); err != nil {
		return err
	}
	widen(to, values, t.config.Dim)
	return nil
}
