//go:build gpu

package cl

import (
	"embed"
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

//go:embed built
var built embed.FS

// Kernels train W2V-CL on a device: the steps of package graph, on the same samples of M
// and with the same negatives.
//
// The steps of a series are launched together, as one CUDA graph: 0.8 µs a launch in place
// of 4.
type Kernels struct {
	device *cuda.Device
	config Config
	part   part  // of the dimensions
	rows   part  // that are trained here
	shape  shape // of a step's launch
	tables [2]table
	step   cu.Function
	sum    cu.Function
	first  FirstStep // nil: W is a table, and step 1 as step 2

	// In the device's memory, of a series:
	steps       cu.DevicePtr // (steps) Step, then (SeriesLength) of the first step's parameters
	samples     cu.DevicePtr // (2, series, slots)
	losses      cu.DevicePtr // (steps, shape.losses)
	firstLosses cu.DevicePtr // (SeriesLength, first.Losses())
	totals      cu.DevicePtr // (steps) sums of the losses, or (SeriesLength) samples of a step

	alias   cu.DevicePtr
	buffers [2]buffer
	reader  *sampleReader // of M on the device; nil: samples come from the host
	shared  cu.DevicePtr  // (steps, H) shared negatives
	lists   *jobLists     // of tempered.cuh; nil: all rows have a sample
	dense   denseShape    // of shared negatives

	exchange *exchange // with other devices; nil: there are none

	// Of a first step:
	aside     *cuda.Aside
	otherRows cu.DevicePtr // as tables[0].values

	series   int // iterations of a series, at most
	slots    int // of a step's samples
	recorded *cuda.Recording
}

// A table is W or C in the device's memory, with its moments. low is nil but with half
// precision.
type table struct{ values, low, first, second, secondOfRow cu.DevicePtr }

const (
	steps       = 2 * SeriesLength // of a series, at most
	sumThreads  = 256              // of a thread block of cl_loss
	warpsOfStep = 8                // rows of a thread block of cl.cu
)

// methods are the optimizers by their names in the sources.
var methods = map[string]string{"adam": "adam", "adam-row": "adamRow", "rmsprop": "scaled", "adagrad": "scaled", "sgd": "sgd"}

// Moments says which state the kernels of an optimizer have: first and second moments of
// each value, or a second moment of each row.
func Moments(method string) (first, second, ofRow bool) {
	name := methods[method]
	return name == "adam" || name == "adamRow", name == "adam" || name == "scaled", name == "adamRow"
}

// MethodName returns the name of an optimizer in the sources; ok is false if they do not have it.
func MethodName(method string) (name string, ok bool) {
	name, ok = methods[method]
	return name, ok
}

// New takes the device's memory for training. All tables are zero.
func New(d *cuda.Device, c Config) (*Kernels, error) { return newKernels(d, c, whole, whole, use{}) }

// A use is what kernels are for beside training by themselves.
type use struct {
	composed   bool // words are composed by an encoder
	byMessages bool // they are those of a Part
}

func newKernels(d *cuda.Device, c Config, dims, rows part, u use) (*Kernels, error) {
	size, err := c.kernelSize()
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	k := &Kernels{device: d, config: c, part: dims, rows: rows, series: seriesOf(c.Rows, c.slots(), c.tempered()), slots: c.slots()}
	if u.composed && !c.tempered() {
		k.series = SeriesLength
	}
	err = d.Do(func() error {
		if err := k.load(size, u); err != nil {
			return err
		}
		return k.allocate(u)
	})
	if err != nil {
		return nil, fmt.Errorf("prepare W2V-CL on %s: %w", d.Name, err)
	}
	return k, nil
}

func (c Config) check() error {
	switch {
	case methods[c.Method] == "":
		return fmt.Errorf("optimizer %q is unknown to the CUDA kernels", c.Method)
	case len(c.Alias) != 2*c.Rows:
		return fmt.Errorf("an alias table of %d values for %d rows; there should be two a row", len(c.Alias), c.Rows)
	case c.SharedNegatives > 0 && c.DrawShared == nil:
		return errors.New("nothing draws the shared negatives")
	case c.SharedNegatives < 0:
		return fmt.Errorf("%d shared negatives; there may be 0 or more", c.SharedNegatives)
	case c.Shares != nil && (len(c.Shares.Lengths) != c.Rows || len(c.Shares.Phases) != c.Rows || len(c.Shares.Slots) != c.Rows+1 || c.Shares.Contexts < 1):
		return fmt.Errorf("shares of %d rows; there should be %d", len(c.Shares.Lengths), c.Rows)
	case c.Rows < 1 || c.Dim < 1 || c.Negatives < 1:
		return fmt.Errorf("%d rows, dimension %d, %d negatives: all must be at least 1", c.Rows, c.Dim, c.Negatives)
	}
	return nil
}

// slots returns S, the number of slots of the samples of a step.
func (c Config) slots() int {
	if c.Shares == nil {
		return c.Rows
	}
	return int(c.Shares.Slots[c.Rows])
}

// load chooses and loads the kernels, for N up to 128 times the size.
func (k *Kernels) load(size int, u use) (err error) {
	d, c := k.device, k.config
	if k.sum, err = d.Function(built, "cl", "cl_loss"); err != nil {
		return err
	}
	if c.tempered() {
		return k.loadTempered(size)
	}
	if k.part.of > 1 {
		return k.loadSplit(size, u.byMessages)
	}
	source, kind := "cl", ""
	if c.HalfPrecision {
		source = "cl_half"
	} else {
		k.shape = shapeOf(d, c, size)
	}
	if k.shape.bulk {
		source = "cl_bulk"
		if k.shape.parts > 1 {
			kind = "parts_"
		}
	}
	if k.step, err = d.Function(built, source+k.sharing(), fmt.Sprintf("%s_%s%s_%d", source, kind, methods[c.Method], size)); err != nil {
		return err
	}
	if c.HalfPrecision {
		k.shape, err = halfShape(d, k.rows.count(c.Rows), k.step)
	} else {
		err = cuda.AllowShared(k.step, k.shape.shared)
	}
	return err
}

// allocate takes memory. Composed rows of W have no moments.
func (k *Kernels) allocate(u use) (err error) {
	c, a := k.config, &cuda.Allocator{Device: k.device}
	plane, own := c.tableBytes(k.part, k.rows)
	for side := range k.tables {
		t := &k.tables[side]
		t.values = a.Bytes("a table", plane)
		if c.HalfPrecision {
			t.low = a.Bytes("a table", own)
		}
		if u.composed && side == 0 {
			continue
		}
		first, second, ofRow := Moments(c.Method)
		if first {
			t.first = a.Bytes("first moments", own)
		}
		if second {
			t.second = a.Bytes("second moments", own)
		}
		if ofRow {
			t.secondOfRow = a.Floats("second moments", max(k.rows.count(c.Rows), 1))
		}
	}
	k.steps = a.Bytes("steps", int(cuda.Bytes[Step](steps+SeriesLength)))
	k.samples = a.Floats("samples of M", 2*k.series*k.slots)
	k.totals = a.Bytes("losses", 8*steps)
	if c.tempered() {
		k.lists = k.newJobLists(a)
		k.shared = a.Floats("shared negatives", max(steps*c.SharedNegatives, 1))
		k.shape.blocks = min(k.shape.blocks, (k.lists.most+k.shape.warps-1)/k.shape.warps)
	} else {
		k.losses = a.Floats("losses", 2*k.series*k.shape.losses)
	}
	k.alias = cuda.Placed(a, "alias table", c.Alias)
	if k.part.of > 1 || k.rows.of > 1 {
		k.exchange = k.newExchange(a, u.byMessages)
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
