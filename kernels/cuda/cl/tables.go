//go:build gpu

package cl

import (
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file knows how tables lie on the device, and copies them there and back. With float32 a row is whole float4s.
//
// With half precision a table lies on the device in two planes of 16 bits a value:
// its rows rounded to bfloat16, and the lower 16 bits of the float32 values. Of frozen
// rows a step reads the first plane only. Both together give back every bit: see join in
// rounded.cuh. In either plane a row is padded to whole sectors, 16 values, or more.
//
// Moments are one plane of bfloat16.

// Send sends a tensor of the state of graph's trainer, by its name there. With half precision
// moments are rounded to bfloat16.
func (k *Kernels) Send(name string, values []float32) error {
	return k.transfer(name, values, k.sendTable, k.sendMoments, k.sendOfRows)
}

// Receive receives a tensor of the state of graph's trainer.
func (k *Kernels) Receive(name string, values []float32) error {
	return k.transfer(name, values,
		func(from table, to []float32) error { return k.receiveTable(to, from) },
		func(from cu.DevicePtr, to []float32) error { return k.receiveMoments(to, from) },
		func(from cu.DevicePtr, to []float32) error { return k.receiveOfRows(to, from) })
}

// transfer copies a tensor: a table or moments, (V, N), or second moments of rows, (V).
func (k *Kernels) transfer(name string, values []float32,
	ofTable func(table, []float32) error, ofMoments, ofRows func(cu.DevicePtr, []float32) error) error {
	words, contexts := k.tables[0], k.tables[1]
	tables := map[string]table{"words": words, "contexts": contexts}
	moments := map[string]cu.DevicePtr{
		"words.first-moment": words.First, "words.second-moment": words.Second,
		"contexts.first-moment": contexts.First, "contexts.second-moment": contexts.Second,
	}
	rowMoments := map[string]cu.DevicePtr{
		"words.second-moment": words.SecondOfRow, "contexts.second-moment": contexts.SecondOfRow,
	}
	c := k.options
	err := k.device.Do(func() error {
		whole := len(values) == c.Rows*c.Dim
		switch {
		case whole && tables[name].values != 0:
			return ofTable(tables[name], values)
		case whole && moments[name] != 0:
			return ofMoments(moments[name], values)
		case rowMoments[name] != 0 && len(values) == c.Rows:
			return ofRows(rowMoments[name], values)
		}
		return fmt.Errorf("there is no such tensor of %d values for %d rows of dimension %d and optimizer %s", len(values), c.Rows, c.Dim, c.Method)
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
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

func (p part) send(to cu.DevicePtr, from []float32, dim int) error {
	if p == whole {
		return cuda.SendRows(to, from, dim, 4*cuda.Quads(dim))
	}
	return cuda.Send(to, p.pack(from, dim))
}

func (p part) receive(to []float32, from cu.DevicePtr, dim int) error {
	if p == whole {
		return cuda.ReceiveRows(to, from, dim, 4*cuda.Quads(dim))
	}
	packed := make([]float32, len(to)/dim*4*p.quads(dim))
	if err := cuda.Receive(packed, from); err != nil {
		return err
	}
	p.unpack(to, packed, dim)
	return nil
}

// halfStride is the number of values of a row of either plane.
func halfStride(dim int) int { return cuda.Padded(dim, 2) }

// split makes the planes of (rows, dim) values.
func split(values []float32, dim int) (high, low []uint16) {
	stride := halfStride(dim)
	high = make([]uint16, len(values)/dim*stride)
	low = make([]uint16, len(high))
	eachRow(len(values)/dim, func(row int) {
		for i, x := range values[row*dim:][:dim] {
			high[row*stride+i], low[row*stride+i] = splitValue(x)
		}
	})
	return high, low
}

// join is the way back, which is exact, of the rows of a part, whose lower bits are in low.
func join(to []float32, high, low []uint16, dim int, rows part) {
	stride := halfStride(dim)
	eachRow(len(low)/stride, func(j int) {
		row := rows.number + j*rows.of
		for i := range dim {
			to[row*dim+i] = joinValue(high[row*stride+i], low[j*stride+i])
		}
	})
}

// splitValue rounds to the nearest bfloat16, of two as near the larger one by size.
func splitValue(x float32) (high, low uint16) {
	bits := math.Float32bits(x)
	return uint16((bits + 1<<15) >> 16), uint16(bits)
}

// joinValue undoes the rounding, which went up if the lower bits begin with a one.
func joinValue(high, low uint16) float32 {
	return math.Float32frombits(uint32(high-low>>15)<<16 | uint32(low))
}

// narrow rounds (rows, dim) moments to bfloat16, to the nearest.
func narrow(values []float32, dim int) []uint16 {
	stride := halfStride(dim)
	to := make([]uint16, len(values)/dim*stride)
	eachRow(len(values)/dim, func(row int) {
		for i, x := range values[row*dim:][:dim] {
			to[row*stride+i], _ = splitValue(x)
		}
	})
	return to
}

// widen is the way back, which is exact.
func widen(to []float32, values []uint16, dim int) {
	stride := halfStride(dim)
	eachRow(len(to)/dim, func(row int) {
		for i := range dim {
			to[row*dim+i] = math.Float32frombits(uint32(values[row*stride+i]) << 16)
		}
	})
}

// eachRow calls f for every row, from all processors.
func eachRow(rows int, f func(row int)) {
	cuda.Parallel(rows, func(first, end int) {
		for row := first; row < end; row++ {
			f(row)
		}
	})
}
