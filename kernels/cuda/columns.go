//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// A CLMatrix is M as wordcontext.Matrix stores it.
type CLMatrix struct {
	Offsets  []uint64 // where each row begins in Narrow or Wide, and the end
	Narrow   []uint16 // ids of contexts, or nil
	Wide     []uint32 // the same
	Contexts int      // l
	Seed     uint64
}

// columnReader draws columns of M on the device.
type columnReader struct {
	kernel cu.Function
	params cu.DevicePtr // columnArgs
}

// columnArgs is ColumnArgs of columns.cu.
type columnArgs struct {
	offsets, stored, columns uint64
	seed                     uint64
	rows, contexts, block, _ uint32
}

// What a block of columns.cu does.
const (
	columnThreads   = 128
	columnPerThread = 8
)

// SetMatrix brings M to the device. Start then draws its columns there.
func (t *CL) SetMatrix(m CLMatrix) error {
	if len(m.Offsets) != t.config.Rows+1 || m.Contexts < 1 {
		return fmt.Errorf("M has %d rows of %d columns; there should be %d rows", len(m.Offsets)-1, m.Contexts, t.config.Rows)
	}
	if err := t.device.do(func() error { return t.setMatrix(m) }); err != nil {
		return fmt.Errorf("bring M to %s: %w", t.device.Name, err)
	}
	return nil
}

func (t *CL) setMatrix(m CLMatrix) error {
	d := t.device
	name := "columns_16"
	if m.Narrow == nil {
		name = "columns_32"
	}
	kernel, err := d.function("columns", name)
	if err != nil {
		return err
	}
	offsets, err := place(d, "rows of M", m.Offsets)
	if err != nil {
		return err
	}
	var stored cu.DevicePtr
	if m.Narrow != nil {
		stored, err = place(d, "M", m.Narrow)
	} else {
		stored, err = place(d, "M", m.Wide)
	}
	if err != nil {
		return err
	}
	params, err := place(d, "arguments", []columnArgs{{
		offsets: uint64(offsets), stored: uint64(stored), columns: uint64(t.columns), seed: m.Seed,
		rows: uint32(t.config.Rows), contexts: uint32(m.Contexts), block: CLBlock,
	}})
	if err != nil {
		return err
	}
	t.reader = &columnReader{kernel, params}
	return nil
}

// draw starts to draw the columns of count iterations from first on.
func (r *columnReader) draw(t *CL, first, count int) error {
	rowBlocks := (t.config.Rows + columnThreads - 1) / columnThreads
	parts := 2 * ((count + columnPerThread - 1) / columnPerThread)
	return t.device.launch(r.kernel, rowBlocks*parts, columnThreads, 0, uint64(r.params), uint64(first), uint64(count))
}
