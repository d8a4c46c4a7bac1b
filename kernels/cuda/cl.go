//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gorgonia.org/cu"
)

// CLConfig says what a CL trains.
type CLConfig struct {
	Rows, Dim, Negatives int    // V, N, K
	Seed                 uint64 // of the negatives
	Alias                []uint32
	// Method, Beta1, ... are those of optim.Config, with its defaults applied.
	Method                             string
	Beta1, Beta2, Epsilon, WeightDecay float64
	HalfPrecision                      bool // see cl_half.cu
}

// CL trains W2V-CL on a device: the half steps of graph.TwoStep, on the same
// columns and with the same negatives.
//
// Half steps are launched 64 at a time, as one CUDA graph: 0.8 µs a launch in
// place of 4.
type CL struct {
	device *Device
	config CLConfig
	shape  shape // of a half step's launch
	tables [2]clTable
	kernel cu.Function
	sum    cu.Function

	steps, columns, losses, totals cu.DevicePtr // of clBlock half steps
	alias                          cu.DevicePtr
	buffers                        [2]clBuffer
	reader                         *columnReader // of M on the device; nil: columns come from the host
	graph                          *recording
}

// low is nil but with half precision.
type clTable struct{ values, low, first, second, secondOfRow cu.DevicePtr }

// clLaunch, clArgs and clStep are ClLaunch, ClTable and ClStep of cl.cuh.
type clLaunch struct {
	table                clArgs
	step, column, losses uint64
}

type clArgs struct {
	left, right, first, second, secondOfRow, alias uint64
	seed                                           uint64
	rows, quads, columns, negatives                uint32
	moments
}

type clStep struct {
	stream                     uint32
	keep, scale, epsilon, rate float32
}

// halfLaunch and halfArgs are HalfLaunch and HalfTable of cl_half.cu.
type halfLaunch struct {
	table                halfArgs
	step, column, losses uint64
}

type halfArgs struct {
	left, leftLow, right, first, second, secondOfRow, alias uint64
	seed                                                    uint64
	rows, units, columns, negatives                         uint32
	moments
}

const (
	clBlock    = 64 // half steps of a graph
	clWarps    = 8  // rows of a block
	lossThread = 256
)

var clMethods = map[string]string{"adam": "adam", "adam-row": "adamRow", "sgd": "sgd"}

// NewCL takes the device's memory for training. All tables are zero.
func (d *Device) NewCL(c CLConfig) (*CL, error) {
	f, err := c.variant()
	if err != nil {
		return nil, err
	}
	method, ok := clMethods[c.Method]
	switch {
	case !ok:
		return nil, fmt.Errorf("optimizer %q is unknown to the CUDA kernels", c.Method)
	case len(c.Alias) != 2*c.Rows:
		return nil, fmt.Errorf("an alias table of %d values for %d rows; there should be two a row", len(c.Alias), c.Rows)
	case c.Rows < 1 || c.Dim < 1 || c.Negatives < 1:
		return nil, fmt.Errorf("%d rows, dimension %d, %d negatives: all must be at least 1", c.Rows, c.Dim, c.Negatives)
	}
	t := &CL{device: d, config: c}
	if !c.HalfPrecision {
		t.shape = d.clShape(c, f)
	}
	err = d.do(func() error {
		module, kind := "cl", ""
		switch {
		case c.HalfPrecision:
			module = "cl_half"
		case t.shape.bulk:
			module = "cl_bulk"
			if t.shape.parts > 1 {
				kind = "parts_"
			}
		}
		if t.kernel, err = d.function(module, fmt.Sprintf("%s_%s%s_%d", module, kind, method, f)); err != nil {
			return err
		}
		if c.HalfPrecision {
			t.shape, err = d.halfShape(c, t.kernel)
		} else {
			err = allowShared(t.kernel, t.shape.shared)
		}
		if err != nil {
			return err
		}
		if t.sum, err = d.function("cl", "cl_loss"); err != nil {
			return err
		}
		return t.allocate()
	})
	if err != nil {
		return nil, fmt.Errorf("prepare W2V-CL on %s: %w", d.Name, err)
	}
	return t, nil
}

func (t *CL) allocate() (err error) {
	c, a := t.config, &allocator{device: t.device}
	plane, moments := c.tableBytes()
	for i := range t.tables {
		table := &t.tables[i]
		table.values = a.bytes("a table", plane)
		if c.HalfPrecision {
			table.low = a.bytes("a table", plane)
		}
		if c.Method != "sgd" {
			table.first = a.bytes("first moments", moments)
		}
		switch c.Method {
		case "adam":
			table.second = a.bytes("second moments", moments)
		case "adam-row":
			table.secondOfRow = a.floats("second moments", c.Rows)
		}
	}
	t.steps = a.bytes("steps", int(sizeOf[clStep](clBlock)))
	t.columns = a.floats("columns of M", clBlock*c.Rows)
	t.losses = a.floats("losses", clBlock*t.shape.losses)
	t.totals = a.bytes("losses", 8*clBlock)
	t.alias = placed(a, "alias table", c.Alias)
	if a.err != nil {
		return a.err
	}
	for i := range t.buffers {
		if err := t.buffers[i].allocate(); err != nil {
			return err
		}
	}
	return nil
}

// args describes the half steps that train the table of a side.
func (t *CL) args(side int) clArgs {
	c, left, right := t.config, t.tables[side], t.tables[1-side]
	return clArgs{
		left: uint64(left.values), right: uint64(right.values), first: uint64(left.first), second: uint64(left.second),
		secondOfRow: uint64(left.secondOfRow), alias: uint64(t.alias), seed: c.Seed,
		rows: uint32(c.Rows), quads: uint32(quads(c.Dim)), columns: uint32(c.Dim), negatives: uint32(c.Negatives), moments: c.moments(),
	}
}

func (t *CL) halfArgs(side int) halfArgs {
	c, left, right := t.config, t.tables[side], t.tables[1-side]
	return halfArgs{
		left: uint64(left.values), leftLow: uint64(left.low), right: uint64(right.values),
		first: uint64(left.first), second: uint64(left.second), secondOfRow: uint64(left.secondOfRow), alias: uint64(t.alias), seed: c.Seed,
		rows: uint32(c.Rows), units: uint32(halfStride(c.Dim) / 8), columns: uint32(c.Dim), negatives: uint32(c.Negatives), moments: c.moments(),
	}
}

// SetTables sends W and C, (V, N) in row-major order. Moments become zero.
func (t *CL) SetTables(words, contexts []float32) error {
	c := t.config
	if len(words) != c.Rows*c.Dim || len(contexts) != c.Rows*c.Dim {
		return fmt.Errorf("tables of %d and %d values; there should be %d x %d", len(words), len(contexts), c.Rows, c.Dim)
	}
	return t.device.do(func() error {
		for i, from := range [][]float32{words, contexts} {
			to := t.tables[i]
			if err := t.sendTable(to, from); err != nil {
				return err
			}
			_, moments := c.tableBytes()
			for p, bytes := range map[cu.DevicePtr]int{to.first: moments, to.second: moments, to.secondOfRow: 4 * c.Rows} {
				if p == 0 {
					continue
				}
				if err := cu.MemsetD8(p, 0, int64(bytes)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Tables receives W and C into slices as SetTables takes them.
func (t *CL) Tables(words, contexts []float32) error {
	return t.device.do(func() error {
		for i, to := range [][]float32{words, contexts} {
			if err := t.receiveTable(to, t.tables[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// A CLIteration is one iteration: both steps.
type CLIteration struct {
	Number  int // counted from 0
	Rate    float64
	Columns [2][]uint32 // of M: of step 1 and step 2, V entries each
}

// Train runs iterations one after the other and returns the loss of each.
func (t *CL) Train(iterations []CLIteration) (losses []float64, err error) {
	v := t.config.Rows
	columns, err := t.Columns(0)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(iterations, CLBlock) {
		for i, it := range part {
			for side, column := range it.Columns {
				if len(column) != v {
					return nil, fmt.Errorf("a column of M of %d entries; there should be %d", len(column), v)
				}
				copy(columns[(side*CLBlock+i)*v:], column)
			}
		}
		if err := t.start(0, part); err != nil {
			return nil, err
		}
		part, err := t.Wait(0)
		if err != nil {
			return nil, err
		}
		losses = append(losses, part...)
	}
	return losses, nil
}

// step returns what optim.Optimizer.Begin makes of an iteration.
func (c CLConfig) step(it CLIteration, side int) clStep {
	n := float64(it.Number + 1)
	correction1, correction2 := 1-math.Pow(c.Beta1, n), math.Sqrt(1-math.Pow(c.Beta2, n))
	return clStep{
		stream: uint32(2*it.Number + side),
		keep:   float32(1 - it.Rate*c.WeightDecay), scale: float32(it.Rate * correction2 / correction1),
		epsilon: float32(c.Epsilon * correction2), rate: float32(it.Rate),
	}
}

// launch starts the first count half steps: all of them by the graph.
func (t *CL) launch(count int) (err error) {
	if count < clBlock {
		return t.launchEach(count)
	}
	if t.graph == nil {
		if t.graph, err = record(t.device.stream, func() error { return t.launchEach(clBlock) }); err != nil {
			return err
		}
	}
	return t.graph.launch(t.device.stream)
}

func (t *CL) launchEach(count int) error {
	d := t.device
	overlap := d.overlaps() && (t.shape.bulk || t.config.HalfPrecision) // those that have startNext, see cl.cuh
	for i := range count {
		if err := t.launchStep(i, i, overlap && i > 0); err != nil {
			return err
		}
	}
	return d.launch(t.sum, count, lossThread, 0, uint64(t.losses), uint64(t.shape.losses), uint64(t.totals))
}

// launchStep starts half step number i of a block, which writes losses number to: early,
// when the half step before it ends.
func (t *CL) launchStep(i, to int, early bool) error {
	step := uint64(t.steps) + uint64(sizeOf[clStep](i))
	column := uint64(t.columns) + uint64(4*t.config.Rows*(i%2*CLBlock+i/2))
	losses := uint64(t.losses) + uint64(4*to*t.shape.losses)
	d, threads, shared := t.device, 32*t.shape.warps, t.shape.shared
	if t.config.HalfPrecision {
		return launchEarly(d, t.kernel, t.shape.blocks, threads, shared, &halfLaunch{t.halfArgs(i % 2), step, column, losses}, early)
	}
	return launchEarly(d, t.kernel, t.shape.blocks, threads, shared, &clLaunch{t.args(i % 2), step, column, losses}, early)
}

// A shape is how a half step is launched.
type shape struct {
	blocks, warps, shared int
	bulk                  bool // by cl_bulk.cu
	parts                 int  // that it has a row's targets in
	losses                int  // that a half step writes
}

// What cl_bulk.cu has: targets of a row and of a part of it, bytes for barriers, and the
// warps of its kernels for N up to 128 F, all at most.
const bulkTargets, bulkPart, bulkBarriers = 32, 8, 256

var bulkWarps = map[int]int{1: 32, 2: 16, 3: 16, 4: 12, 8: 8}

// clShape chooses the kernel: cl_bulk.cu on the GPU it is for, if a row's targets are not
// many, with as many warps as there is shared memory for.
func (d *Device) clShape(c CLConfig, f int) shape {
	targets := 1 + c.Negatives
	parts := (targets + bulkPart - 1) / bulkPart
	stage := ((targets+parts-1)/parts + 1) * 512 * f // of a warp
	warps := min(bulkWarps[f], (d.SharedOfBlock-bulkBarriers)/stage)
	if d.machineCode() && targets <= bulkTargets && warps > 0 {
		blocks := min(d.Multiprocessors, (c.Rows+warps-1)/warps)
		return shape{blocks: blocks, warps: warps, shared: bulkBarriers + warps*stage, bulk: true, parts: parts, losses: blocks * warps}
	}
	blocks := (c.Rows + clWarps - 1) / clWarps
	return shape{blocks: blocks, warps: clWarps, losses: blocks}
}

// halfShape has as many blocks as run at a time: their warps stay for many rows.
func (d *Device) halfShape(c CLConfig, kernel cu.Function) (shape, error) {
	const warps = 4
	resident, err := kernel.MaxActiveBlocksPerMultiProcessor(32*warps, 0)
	blocks := min(d.Multiprocessors*resident, (c.Rows+warps-1)/warps)
	return shape{blocks: blocks, warps: warps, losses: blocks * warps}, err
}

// Close frees the memory that is not the device's to free.
func (t *CL) Close() error {
	return t.device.do(func() error {
		err := t.device.stream.Synchronize() // it may be using the memory
		if t.graph != nil {
			err = errors.Join(err, t.graph.free())
		}
		for i := range t.buffers {
			err = errors.Join(err, t.buffers[i].free())
		}
		return err
	})
}
