//go:build gpu

package cl

import (
	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A FirstStep trains step 1 where the rows of W are composed and no table: package subword
// has encoders that do so.
type FirstStep interface {
	// Rate returns the learning rate of the parameters divided by the rate of tables.
	Rate() float64
	// Prepare starts what Compose needs, and Compose to write the rows of W of an iteration.
	Prepare(m StepMemory) error
	Compose(m StepMemory) error
	// Launch starts the step, from the rows to their gradient.
	Launch(m StepMemory) error
	// Gradient starts what of the training of the parameters fills the device. Step 2 begins after it.
	Gradient(m StepMemory) error
	// Update starts all else of it. It runs beside step 2, and so does Prepare for the next iteration.
	Update(m StepMemory) error
	// Beside returns how many multiprocessors step 2 leaves to Update.
	Beside() int
}

// StepMemory is where in the device's memory a first step reads and writes.
type StepMemory struct {
	Tables     cu.DevicePtr // StepNumbers of tables
	Parameters cu.DevicePtr // StepNumbers of the parameters
	Number     int          // of the step in its series, for LaunchFirst
	Rows       cu.DevicePtr // composed rows, as a table
	Met        Met
}

// Met is where the device has the words whose rows an iteration reads: those with a share, and the
// samples and shared negatives of its second step. Slots 0: it may read all rows.
type Met struct {
	Jobs, Tiles, Samples, Shared cu.DevicePtr // (Jobs.row) of 8 each of the tiles, samples (Slots), negatives (H)
	MostJobs, Slots, Negatives   uint32
}

// met returns the words of iteration number i of a series. Without shared negatives, or with many samples, it may read all.
func (k *Kernels) met(i int) Met {
	const most = 4 // samples of a word: of more hardly a word is left out
	a := k.stepArgs(2*i + 1)
	m := Met{Jobs: cu.DevicePtr(a.jobs), Tiles: cu.DevicePtr(a.tiles), MostJobs: uint32(k.lists.most)}
	if k.options.SharedNegatives > 0 && k.slots <= most*k.options.Rows {
		m.Samples, m.Shared, m.Slots, m.Negatives = cu.DevicePtr(a.samples), cu.DevicePtr(a.shared), uint32(k.slots), uint32(k.options.SharedNegatives)
	}
	return m
}

// NewComposed is New for composed rows of W, which have no moments. SetFirstStep has to
// follow.
func NewComposed(d *cuda.Device, c Options) (*Kernels, error) {
	c.composed = true
	return New(d, c)
}

// NewComposedGroup is NewComposed of several devices. SetFirstStep of all parts has to follow.
func NewComposedGroup(devices []*cuda.Device, c Options) (*Group, error) {
	c.composed = true
	return NewGroup(devices, c)
}

// SetFirstStep sets the trainer of step 1.
func (k *Kernels) SetFirstStep(s FirstStep) error {
	k.first = s
	return k.device.Do(func() (err error) {
		if k.aside, err = k.device.NewAside(); err != nil {
			return err
		}
		bytes, _ := k.options.tableBytes(k.part, k.rows)
		a := &cuda.Allocator{Device: k.device}
		k.otherRows = a.Bytes("a table", bytes)
		k.shareLines = a.Function("cl/lines", "lines_share", 0)
		return a.Err
	})
}

// FirstStep returns the trainer of step 1.
func (k *Kernels) FirstStep() FirstStep { return k.first }

// Rows returns where the composed rows of an iteration lie, as a table.
func (k *Kernels) Rows() cu.DevicePtr { return k.tables[0].values }

// RowsOf returns where the composed rows of step number i of a series lie: those of the next iteration are written while its
// own are read.
func (k *Kernels) RowsOf(i int) cu.DevicePtr {
	if i%4 > 1 {
		return k.otherRows
	}
	return k.tables[0].values
}

func (k *Kernels) stepMemory(i int) StepMemory {
	return StepMemory{Tables: k.stepAt(2 * i), Parameters: k.stepAt(steps + i), Number: 2 * i, Rows: k.RowsOf(2 * i), Met: k.met(i)}
}

// launchComposed starts the first iterations of a series. Once there is the gradient of the rows, the parameters are trained and the next rows are
// composed beside the second step, which needs neither.
func (k *Kernels) launchComposed(count int) error {
	if err := k.first.Prepare(k.stepMemory(0)); err != nil {
		return err
	}
	for i := range count {
		m := k.stepMemory(i)
		for _, start := range []func(StepMemory) error{k.first.Compose, k.first.Launch, k.first.Gradient} {
			if err := start(m); err != nil {
				return err
			}
		}
		err := k.aside.Do(func() error {
			if err := k.first.Update(m); err != nil || i+1 == count {
				return err
			}
			return k.first.Prepare(k.stepMemory(i + 1))
		})
		if err != nil {
			return err
		}
		if err := k.launchStep(2*i+1, false); err != nil {
			return err
		}
		if err := k.aside.Join(); err != nil {
			return err
		}
	}
	return nil
}

// StepFunction loads a kernel that LaunchFirst starts, of one device or of several.
func (k *Kernels) StepFunction(source, name string) (cu.Function, error) {
	f, err := k.device.Function(source+k.sharing(), name)
	if err != nil {
		return f, err
	}
	return f, cuda.AllowShared(f, k.shape.shared)
}

// LaunchFirst starts a kernel in the place of a first step, with the arguments of step.cuh. own is the state of rows that
// are updated in the place of composed ones; beside is what else the kernel takes. If early, it may begin while composing ends.
func (k *Kernels) LaunchFirst(kernel cu.Function, number int, own cuda.State, beside cu.DevicePtr, early bool) error {
	a := k.stepArgs(number)
	a.table.first, a.table.second, a.table.secondOfRow, a.table.leftLow = uint64(own.First), uint64(own.Second), uint64(own.SecondOfRow), uint64(beside)
	grid := cuda.Grid{Blocks: k.shape.blocks, Threads: 32 * k.shape.warps, Shared: k.shape.shared}
	return cuda.LaunchEarly(k.device, kernel, grid, a, early && k.rows.of == 1 && k.device.Overlaps())
}
