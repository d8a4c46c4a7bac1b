//go:build gpu

package cl

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A sampleReader draws samples of M on the device.
type sampleReader struct {
	kernel cu.Function
	params cu.DevicePtr // sampleArgs
}

// sampleArgs is SampleArgs of samples.cu.
type sampleArgs struct {
	offsets, stored, lengths, phases, slots, rowOf, samples uint64
	seed                                                    uint64
	size, contexts, series, inOrder                         uint32
}

// The shape of samples.cu.
const (
	sampleThreads   = 128 // of a thread block, each with a slot
	samplePerThread = 8   // iterations of a thread
)

// SetMatrix brings M to the device. Start then draws its samples there.
func (k *Kernels) SetMatrix(m Matrix) error {
	offsets, _, _, lengths, phases := m.Layout()
	rows, slots := k.options.Rows, m.Slots()
	if len(offsets) != rows+1 || len(lengths) != rows || len(phases) != rows || len(slots) != rows+1 || m.Contexts() < 1 {
		return fmt.Errorf("matrix M has %d rows in %d iterations; there should be %d rows", len(offsets)-1, m.Contexts(), rows)
	}
	if int(slots[rows]) != k.slots {
		return fmt.Errorf("matrix M has %d samples in an iteration; there should be %d", slots[rows], k.slots)
	}
	if err := k.device.Do(func() error { return k.setMatrix(m) }); err != nil {
		return fmt.Errorf("bring M to %s: %w", k.device.Name, err)
	}
	return nil
}

func (k *Kernels) setMatrix(m Matrix) error {
	a, name := &cuda.Allocator{Device: k.device}, "samples_16"
	offsets, narrow, wide, lengths, phases := m.Layout()
	args := sampleArgs{
		offsets: uint64(cuda.Placed(a, "rows of M", offsets)), samples: uint64(k.samples),
		lengths: uint64(cuda.Placed(a, "lengths of rows", lengths)), phases: uint64(cuda.Placed(a, "phases of rows", phases)),
		slots: uint64(cuda.Placed(a, "slots of rows", m.Slots())), rowOf: uint64(cuda.Placed(a, "rows of slots", rowsOf(m.Slots()))),
		seed: m.Seed(), size: uint32(k.slots), contexts: uint32(m.Contexts()), series: uint32(k.series),
	}
	if m.Tempered() {
		args.inOrder = 1
	}
	if narrow != nil {
		args.stored = uint64(cuda.Placed(a, "M", narrow))
	} else {
		name = "samples_32"
		args.stored = uint64(cuda.Placed(a, "M", wide))
	}
	r := &sampleReader{a.Function("cl/samples", name, 0), cuda.Placed(a, "arguments", []sampleArgs{args})}
	if a.Err != nil {
		return a.Err
	}
	k.reader = r
	return nil
}

// rowsOf returns the row of each slot.
func rowsOf(slots []uint32) []uint32 {
	rows := make([]uint32, slots[len(slots)-1])
	for i, first := range slots[:len(slots)-1] {
		for slot := first; slot < slots[i+1]; slot++ {
			rows[slot] = uint32(i)
		}
	}
	return rows
}

// draw starts to draw the samples of count iterations from first on.
func (r *sampleReader) draw(k *Kernels, first, count int) error {
	blocksOfSlots := (k.slots + sampleThreads - 1) / sampleThreads
	parts := 2 * ((count + samplePerThread - 1) / samplePerThread) // of both steps
	grid := cuda.Grid{Blocks: blocksOfSlots * parts, Threads: sampleThreads}
	return k.device.LaunchValues(r.kernel, grid, uint64(r.params), uint64(first), uint64(count))
}
