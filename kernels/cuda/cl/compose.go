//go:build gpu

package cl

import (
	"embed"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A FirstStep trains step 1 where the rows of W are composed and no table: package subword
// has encoders that do so.
type FirstStep interface {
	// Losses returns how many losses Launch has written for a step. LaunchTempered writes them elsewhere.
	Losses() int
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
	Tables     cu.DevicePtr // Step of tables
	Parameters cu.DevicePtr // Step of the parameters
	Column     cu.DevicePtr // samples of M, (V)
	Losses     cu.DevicePtr // (Losses()), to be written
	Number     int          // of the step, for LaunchTempered
	Rows       cu.DevicePtr // composed rows, as a table
	Met        Met
}

// Met is where the device has the words whose rows a tempered iteration reads: those with a share, and the
// samples and shared negatives of its second step. Slots 0: it may read all rows.
type Met struct {
	Jobs, Tiles, Samples, Shared cu.DevicePtr // (Jobs.row) of 8 each of the tiles, samples (Slots), negatives (H)
	MostJobs, Slots, Negatives   uint32
}

// met returns the words of iteration number i of a series. Without shared negatives, or with many samples, it may read all.
func (k *Kernels) met(i int) Met {
	const most = 4 // samples of a word: of more hardly a word is left out
	if k.lists == nil {
		return Met{}
	}
	a := k.temperedArgs(2*i + 1)
	m := Met{Jobs: cu.DevicePtr(a.jobs), Tiles: cu.DevicePtr(a.tiles), MostJobs: uint32(k.lists.most)}
	if k.config.SharedNegatives > 0 && k.slots <= most*k.config.Rows {
		m.Samples, m.Shared, m.Slots, m.Negatives = cu.DevicePtr(a.samples), cu.DevicePtr(a.shared), uint32(k.slots), uint32(k.config.SharedNegatives)
	}
	return m
}

// NewComposed is New for composed rows of W, which have no moments. SetFirstStep has to
// follow.
func NewComposed(d *cuda.Device, c Config) (*Kernels, error) {
	return newKernels(d, c, whole, whole, use{composed: true})
}

// SetFirstStep sets the trainer of step 1.
func (k *Kernels) SetFirstStep(s FirstStep) error {
	k.first = s
	return k.device.Do(func() (err error) {
		if k.aside, err = k.device.NewAside(); err != nil {
			return err
		}
		bytes, _ := k.config.tableBytes(k.part, k.rows)
		a := &cuda.Allocator{Device: k.device}
		k.otherRows = a.Bytes("a table", bytes)
		k.firstLosses = a.Floats("losses", SeriesLength*s.Losses())
		return a.Err
	})
}

// rowsOf returns where the composed rows of iteration number i of a series lie: those of the next one are written while its
// own are read.
func (k *Kernels) rowsOf(i int) cu.DevicePtr {
	if i%2 == 1 {
		return k.otherRows
	}
	return k.tables[0].values
}

func (k *Kernels) stepMemory(i int) StepMemory {
	return StepMemory{
		Tables: k.stepAt(2 * i), Parameters: k.stepAt(steps + i), Column: k.samplesAt(2 * i),
		Losses: k.firstLosses + cu.DevicePtr(4*i*k.first.Losses()), Number: 2 * i, Rows: k.rowsOf(i), Met: k.met(i),
	}
}

// launchComposed starts the first iterations of a series. The totals of the first steps of all iterations come first, then
// the totals of the second steps. Once there is the gradient of the rows, the parameters are trained and the next rows are
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
		if err := k.launchStep(2*i+1, i, false); err != nil {
			return err
		}
		if err := k.aside.Join(); err != nil {
			return err
		}
	}
	if k.lists != nil {
		return nil // the steps sum their losses
	}
	if err := k.sumLosses(count, k.firstLosses, k.first.Losses(), k.totals); err != nil {
		return err
	}
	return k.sumLosses(count, k.losses, k.shape.losses, k.totals+8*SeriesLength)
}

// Tempered reports whether steps are those of tempered.cuh.
func (k *Kernels) Tempered() bool { return k.lists != nil }

// TemperedFunction loads a kernel that LaunchTempered starts, for N up to 128 times the size.
func (k *Kernels) TemperedFunction(built embed.FS, source, name string) (cu.Function, error) {
	f, err := k.device.Function(built, source, name)
	if err != nil {
		return f, err
	}
	return f, cuda.AllowShared(f, k.shape.shared)
}

// Own is where the rows that are updated in the place of composed ones have their moments, and what
// else a kernel of composed rows takes.
type Own struct{ First, Second, SecondOfRow, Beside cu.DevicePtr }

// LaunchTempered starts a kernel in the place of a first step, with the arguments of tempered.cuh.
func (k *Kernels) LaunchTempered(kernel cu.Function, number int, o Own) error {
	a := k.temperedArgs(number)
	a.table.first, a.table.second, a.table.secondOfRow, a.table.leftLow = uint64(o.First), uint64(o.Second), uint64(o.SecondOfRow), uint64(o.Beside)
	return cuda.Launch(k.device, kernel, cuda.Grid{Blocks: k.shape.blocks, Threads: 32 * k.shape.warps, Shared: k.shape.shared}, a)
}
