//go:build gpu

package cl

import (
	"math"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// lossUnits is Loss of cl.cuh.
type lossUnits struct {
	units      int64
	unsound, _ uint32
}

func (l lossUnits) value() float64 {
	if l.unsound != 0 {
		return math.NaN()
	}
	return float64(l.units) / (1 << 20)
}

// launch starts the first steps of a series: all of them by the recording.
func (k *Kernels) launch(count int) (err error) {
	if count < 2*k.series || k.exchange != nil && k.exchange.by != nil {
		return k.launchEach(count)
	}
	if k.recorded == nil {
		if k.recorded, err = cuda.Record(k.device.Stream(), func() error { return k.launchEach(count) }); err != nil {
			return err
		}
	}
	return k.recorded.Launch(k.device.Stream())
}

func (k *Kernels) launchEach(count int) error {
	if k.first != nil {
		return k.launchComposed(count / 2)
	}
	overlap := k.device.Overlaps() && k.exchange.overlaps()
	for i := range count {
		if err := k.launchStep(i, overlap && i > 0); err != nil {
			return err
		}
	}
	return nil
}

// launchStep starts step number i of a series. If early, it may begin while the step before it ends.
func (k *Kernels) launchStep(i int, early bool) error {
	grid := cuda.Grid{Blocks: k.shape.blocks, Threads: 32 * k.shape.warps, Shared: k.shape.shared}
	switch {
	case k.lists == nil && k.exchange.by != nil:
		return k.launchByMessages(i, grid)
	case k.lists == nil:
		return cuda.LaunchEarly(k.device, k.step, grid, k.columnsArgs(i), early)
	case k.first != nil: // step 2: the jobs find their thread blocks, as many as there are
		grid.Blocks = max(1, min(grid.Blocks, k.shape.resident-k.first.Beside()*k.shape.resident/k.device.Multiprocessors))
	}
	return cuda.LaunchEarly(k.device, k.step, grid, k.stepArgs(i), early)
}

func (k *Kernels) stepAt(i int) cu.DevicePtr {
	return k.steps + cu.DevicePtr(cuda.Bytes[cuda.StepNumbers](i))
}

// samplesAt returns where the samples of step number i of a series lie.
func (k *Kernels) samplesAt(i int) cu.DevicePtr {
	step := i % 2
	if k.options.SameColumn {
		step = 0
	}
	return k.samples + cu.DevicePtr(4*k.slots*(step*k.series+i/2))
}

// lossAt returns where step number i of a series adds its losses.
func (k *Kernels) lossAt(i int) uint64 {
	return uint64(k.losses + cu.DevicePtr(cuda.Bytes[lossUnits](i)))
}

// frozen returns what step number i of a series meets: the table of its samples, and that of its negatives. Today both are the
// table that the other step updates.
func (k *Kernels) frozen(i int) (positives, negatives uint64) {
	other := uint64(k.valuesOf(i, 1-i%2))
	return other, other
}

// valuesOf returns the values of a table in step number i of a series. Composed rows of W lie in two places by turns.
func (k *Kernels) valuesOf(i, side int) cu.DevicePtr {
	if side == 0 && k.first != nil {
		return k.RowsOf(i)
	}
	return k.tables[side].values
}

// numbers returns the numbers of the step of an iteration, counted from 0, that updates a
// table at a learning rate.
func (k *Kernels) numbers(iteration, side int, rate float64) cuda.StepNumbers {
	s := k.optimizer.Step(iteration+1, rate)
	s.Stream = uint32(2*iteration + side)
	return s
}
