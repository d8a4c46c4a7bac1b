//go:build gpu

package cl

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// Kernels train W2V-CL on a device: the steps of package graph, on the same samples of M
// and with the same negatives.
//
// The steps of a series are launched together, as one CUDA graph: 0.8 µs a launch in place
// of 4.
type Kernels struct {
	device    *cuda.Device
	options   Options
	optimizer cuda.Optimizer
	part      part  // of the dimensions
	rows      part  // that are trained here
	shape     shape // of a step's launch
	tables    [2]table
	step      cu.Function
	first     FirstStep // nil: W is a table, and step 1 as step 2

	// In the device's memory, of a series:
	steps   cu.DevicePtr // (steps) StepNumbers, then (SeriesLength) of the first step's parameters
	samples cu.DevicePtr // (2, series, slots)
	losses  cu.DevicePtr // (2, series) lossUnits

	alias    cu.DevicePtr
	buffers  [2]buffer
	reader   *sampleReader // of M on the device; nil: samples come from the host
	exchange *exchange     // of columns.cu, and with other devices; else nil

	// Of step.cuh:
	lists  *jobLists    // nil: the kernels are those of columns.cu
	shared cu.DevicePtr // (steps, H) shared negatives
	dense  denseShape

	// Of a first step:
	aside      *cuda.Aside
	otherRows  cu.DevicePtr // as tables[0].values
	shareLines cu.Function

	series   int // iterations of a series, at most
	slots    int // of a step's samples
	recorded *cuda.Recording
}

// A table is W or C in the device's memory, with the state of its optimizer. low is nil but with half
// precision.
type table struct {
	values, low cu.DevicePtr
	cuda.State
}

const steps = 2 * SeriesLength // of a series, at most

// New takes the device's memory for training. All tables are zero.
func New(d *cuda.Device, c Options) (*Kernels, error) { return newKernels(d, c, whole, whole, nil) }

// newKernels has by for a Rank.
func newKernels(d *cuda.Device, c Options, dims, rows part, by *messenger) (*Kernels, error) {
	size, err := c.kernelSize()
	if err != nil {
		return nil, err
	}
	method, err := c.check()
	if err != nil {
		return nil, err
	}
	k := &Kernels{
		device: d, options: c, part: dims, rows: rows, series: seriesOf(c.Rows, c.slots(), c.SplitsRows()), slots: c.slots(),
		optimizer: cuda.Optimizer{Method: method, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay},
	}
	err = d.Do(func() error {
		if err := k.load(size, by); err != nil {
			return err
		}
		return k.allocate(by)
	})
	if err != nil {
		return nil, fmt.Errorf("prepare W2V-CL on %s: %w", d.Name, err)
	}
	return k, nil
}

func (c Options) check() (cuda.Method, error) {
	method, err := cuda.FindMethod(c.Method)
	switch {
	case err != nil:
	case len(c.Alias) != 2*c.Rows:
		err = fmt.Errorf("an alias table of %d values for %d rows; there should be two a row", len(c.Alias), c.Rows)
	case c.SharedNegatives > 0 && c.DrawShared == nil:
		err = errors.New("nothing draws the shared negatives")
	case c.SharedNegatives < 0:
		err = fmt.Errorf("%d shared negatives; there may be 0 or more", c.SharedNegatives)
	case c.Shares != nil && (len(c.Shares.Lengths) != c.Rows || len(c.Shares.Phases) != c.Rows || len(c.Shares.Slots) != c.Rows+1 || c.Shares.Contexts < 1):
		err = fmt.Errorf("shares of %d rows; there should be %d", len(c.Shares.Lengths), c.Rows)
	case c.Rows < 1 || c.Dim < 1 || c.Negatives < 1:
		err = fmt.Errorf("%d rows, dimension %d, %d negatives: all must be at least 1", c.Rows, c.Dim, c.Negatives)
	}
	return method, err
}

// slots returns S, the number of slots of the samples of a step.
func (c Options) slots() int {
	if c.Shares == nil {
		return c.Rows
	}
	return int(c.Shares.Slots[c.Rows])
}

// load chooses and loads the kernel, for N up to 128 times the size.
func (k *Kernels) load(size int, by *messenger) error {
	if k.options.SplitsRows() {
		return k.loadStep(size)
	}
	return k.loadColumns(size, by)
}

// allocate takes memory. Composed rows of W have no moments.
func (k *Kernels) allocate(by *messenger) (err error) {
	c, a := k.options, &cuda.Allocator{Device: k.device}
	plane, own := c.tableBytes(k.part, k.rows)
	for side := range k.tables {
		t := &k.tables[side]
		t.values = a.Bytes("a table", plane)
		if c.HalfPrecision {
			t.low = a.Bytes("a table", own)
		}
		if side == 1 || !c.composed {
			rows := max(k.rows.count(c.Rows), 1)
			t.State = a.State(k.optimizer.Method, rows, own/rows)
		}
	}
	k.steps = a.Bytes("steps", int(cuda.Bytes[cuda.StepNumbers](steps+SeriesLength)))
	k.samples = a.Floats("samples of M", 2*k.series*k.slots)
	k.losses = a.Bytes("losses", int(cuda.Bytes[lossUnits](steps)))
	if c.SplitsRows() {
		k.lists = k.newJobLists(a)
		k.shared = a.Floats("shared negatives", max(steps*c.SharedNegatives, 1))
		k.shape.blocks = min(k.shape.blocks, (k.lists.most+k.shape.warps-1)/k.shape.warps)
	}
	k.alias = cuda.Placed(a, "alias table", c.Alias)
	if !c.SplitsRows() || k.rows.of > 1 {
		k.exchange = k.newExchange(a, by)
	}
	if a.Err != nil {
		return a.Err
	}
	for i := range k.buffers {
		if err := k.buffers[i].allocate(c.SharedNegatives); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the memory that Device.Close does not free.
func (k *Kernels) Close() error {
	return k.device.Do(func() error {
		err := k.device.Stream().Synchronize() // it may be using the memory
		if k.recorded != nil {
			err = errors.Join(err, k.recorded.Free())
		}
		for i := range k.buffers {
			err = errors.Join(err, k.buffers[i].free())
		}
		return err
	})
}
