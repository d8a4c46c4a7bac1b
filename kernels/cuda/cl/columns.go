//go:build gpu

package cl

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// A columnReader draws columns of M on the device.
type columnReader struct {
	kernel cu.Function
	params cu.DevicePtr // columnArgs
}

// columnArgs is ColumnArgs of columns.cu.
type columnArgs struct {
	offsets, stored, columns  uint64
	seed                      uint64
	rows, contexts, series, _ uint32
}

// The shape of columns.cu.
const (
	columnThreads   = 128 // of a thread block, each with a row
	columnPerThread = 8   // iterations of a thread
)

// SetMatrix brings M to the device. Start then draws its columns there.
func (k *Kernels) SetMatrix(m Matrix) error {
	offsets, narrow, wide, _, _ := m.Layout()
	if len(offsets) != k.config.Rows+1 || m.Contexts() < 1 {
		return fmt.Errorf("matrix M has %d rows of %d columns; there should be %d rows", len(offsets)-1, m.Contexts(), k.config.Rows)
	}
	args := columnArgs{seed: m.Seed(), rows: uint32(k.config.Rows), contexts: uint32(m.Contexts()), series: SeriesLength}
	if err := k.device.Do(func() error { return k.setMatrix(args, offsets, narrow, wide) }); err != nil {
		return fmt.Errorf("bring M to %s: %w", k.device.Name, err)
	}
	return nil
}

func (k *Kernels) setMatrix(args columnArgs, offsets []uint64, narrow []uint16, wide []uint32) error {
	a, name := &cuda.Allocator{Device: k.device}, "columns_16"
	args.columns, args.offsets = uint64(k.columns), uint64(cuda.Placed(a, "rows of M", offsets))
	if narrow != nil {
		args.stored = uint64(cuda.Placed(a, "M", narrow))
	} else {
		name = "columns_32"
		args.stored = uint64(cuda.Placed(a, "M", wide))
	}
	r := &columnReader{a.Function(built, "columns", name, 0), cuda.Placed(a, "arguments", []columnArgs{args})}
	if a.Err != nil {
		return a.Err
	}
	k.reader = r
	return nil
}

// draw starts to draw the columns of count iterations from first on.
func (r *columnReader) draw(k *Kernels, first, count int) error {
	blocksOfRows := (k.config.Rows + columnThreads - 1) / columnThreads
	parts := 2 * ((count + columnPerThread - 1) / columnPerThread) // of both steps
	grid := cuda.Grid{Blocks: blocksOfRows * parts, Threads: columnThreads}
	return k.device.LaunchValues(r.kernel, grid, uint64(r.params), uint64(first), uint64(count))
}
