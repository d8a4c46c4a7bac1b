//go:build gpu

package cl

import (
	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// TableArgs is ClTable of cl.cuh: the table that a step updates (left), the frozen one
// (right), and how. Addresses are in the device's memory.
type TableArgs struct {
	Left, Right, First, Second, SecondOfRow, Alias uint64
	Seed                                           uint64
	Rows, Quads, Columns, Negatives                uint32
	Decays
}

// Decays are the constants of Adam's moments.
type Decays struct{ Beta1, OneMinusBeta1, Beta2, OneMinusBeta2 float32 }

// Step is ClStep of cl.cuh: the numbers of one step of the optimizer.
type Step struct {
	Stream                     uint32 // lower 32 bits of the stream of negatives
	Keep, Scale, Epsilon, Rate float32
}

// launchArgs is ClLaunch of cl.cuh.
type launchArgs struct {
	table                TableArgs
	step, column, losses uint64
}

// halfLaunchArgs and halfTableArgs are HalfLaunch and HalfTable of cl_half.cu.
type halfLaunchArgs struct {
	table                halfTableArgs
	step, column, losses uint64
}

type halfTableArgs struct {
	left, right, leftLow, first, second, secondOfRow, alias uint64
	seed                                                    uint64
	rows, octets, columns, negatives                        uint32
	Decays
	sharing sharingArgs
}

// Args describes the steps that update a table: 0 is W, 1 is C.
func (k *Kernels) Args(side int) TableArgs {
	c, left, right := k.config, k.tables[side], k.tables[1-side]
	return TableArgs{
		Left: uint64(left.values), Right: uint64(right.values), First: uint64(left.first), Second: uint64(left.second),
		SecondOfRow: uint64(left.secondOfRow), Alias: uint64(k.alias), Seed: c.Seed,
		Rows: uint32(c.Rows), Quads: uint32(k.part.quads(c.Dim)), Columns: uint32(c.Dim), Negatives: uint32(c.Negatives), Decays: c.Decays(),
	}
}

func (k *Kernels) halfArgs(i int) halfTableArgs {
	c, left, right := k.config, k.tables[i%2], k.tables[1-i%2]
	return halfTableArgs{
		left: uint64(left.values), leftLow: uint64(left.low), right: uint64(right.values),
		first: uint64(left.first), second: uint64(left.second), secondOfRow: uint64(left.secondOfRow), alias: uint64(k.alias), seed: c.Seed,
		rows: uint32(c.Rows), octets: uint32(halfStride(c.Dim) / 8), columns: uint32(c.Dim), negatives: uint32(c.Negatives), Decays: c.Decays(),
		sharing: k.sharingArgs(i),
	}
}

// Decays returns the constants of the moments.
func (c Config) Decays() Decays {
	s := c.adam(1, 0) // the same in every step
	return Decays{s.Beta1, s.OneMinusBeta1, s.Beta2, s.OneMinusBeta2}
}

func (c Config) adam(step int, rate float64) simd.AdamStep {
	return NumbersOf(c.Method, simd.NewAdamStep(c.Beta1, c.Beta2, c.Epsilon, c.WeightDecay, step, rate), rate, c.Epsilon)
}

// NumbersOf turns the numbers of a step of Adam into those that the kernels of an optimizer
// take.
func NumbersOf(method string, s simd.AdamStep, rate, epsilon float64) simd.AdamStep {
	if methods[method] == "scaled" {
		s.Scale, s.Epsilon = float32(rate), float32(epsilon) // no corrections
	}
	if method == "adagrad" {
		s.Beta2, s.OneMinusBeta2 = 1, 1
	}
	return s
}

// step returns the numbers of the step of an iteration, counted from 0, that updates a
// table at a learning rate.
func (c Config) step(iteration, side int, rate float64) Step {
	s := c.adam(iteration+1, rate)
	return Step{Stream: uint32(2*iteration + side), Keep: s.Keep, Scale: s.Scale, Epsilon: s.Epsilon, Rate: float32(rate)}
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
	overlap := k.device.Overlaps() && (k.shape.bulk || k.config.HalfPrecision || k.lists != nil || k.exchange != nil) && k.exchange.overlaps() // those that have startNext, see cl.cuh
	for i := range count {
		if err := k.launchStep(i, i, overlap && i > 0); err != nil {
			return err
		}
	}
	if k.lists != nil {
		return nil // the steps sum their losses
	}
	return k.sumLosses(count, k.losses, k.shape.losses, k.totals)
}

// launchStep starts step number i of a series, which writes its losses to place number to.
// If early, it may begin while the step before it ends.
func (k *Kernels) launchStep(i, to int, early bool) error {
	step, column, losses := uint64(k.stepAt(i)), uint64(k.samplesAt(i)), uint64(k.lossesAt(to))
	grid := cuda.Grid{Blocks: k.shape.blocks, Threads: 32 * k.shape.warps, Shared: k.shape.shared}
	if k.lists != nil {
		if k.first != nil { // step 2: the jobs find their thread blocks, as many as there are
			grid.Blocks = max(1, min(grid.Blocks, k.shape.resident-k.first.Beside()*k.shape.resident/k.device.Multiprocessors))
		}
		return cuda.LaunchEarly(k.device, k.step, grid, k.temperedArgs(i), early)
	}
	if k.config.HalfPrecision {
		return cuda.LaunchEarly(k.device, k.step, grid, &halfLaunchArgs{k.halfArgs(i), step, column, losses}, early)
	}
	args := launchArgs{k.Args(i % 2), step, column, losses}
	if k.first != nil {
		args.table.Right = uint64(k.rowsOf(i / 2)) // only steps 2 come here
	}
	if k.exchange != nil && k.exchange.by != nil {
		return k.launchByMessages(args, i, grid)
	}
	if k.exchange != nil {
		return cuda.LaunchEarly(k.device, k.step, grid, k.exchange.args(args, k.shape.hot, i), early)
	}
	return cuda.LaunchEarly(k.device, k.step, grid, &args, early)
}

func (k *Kernels) stepAt(i int) cu.DevicePtr { return k.steps + cu.DevicePtr(cuda.Bytes[Step](i)) }

// samplesAt returns where the samples of step number i of a series lie.
func (k *Kernels) samplesAt(i int) cu.DevicePtr {
	step := i % 2
	if k.config.SameColumn {
		step = 0
	}
	return k.samples + cu.DevicePtr(4*k.slots*(step*k.series+i/2))
}

// lossesAt returns where step number i of a series writes its losses.
func (k *Kernels) lossesAt(i int) cu.DevicePtr { return k.losses + cu.DevicePtr(4*i*k.shape.losses) }

// sumLosses sums the losses of some steps, each of so many, to one value a step.
func (k *Kernels) sumLosses(count int, losses cu.DevicePtr, each int, totals cu.DevicePtr) error {
	return k.device.LaunchValues(k.sum, cuda.Grid{Blocks: count, Threads: sumThreads}, uint64(losses), uint64(each), uint64(totals))
}

// A shape is how a step is launched.
type shape struct {
	blocks, warps, shared int  // thread blocks, their warps and bytes of shared memory
	bulk                  bool // by cl_bulk.cu
	parts                 int  // of a row's targets, one after the other
	losses                int  // that a step writes
	hot                   int  // rows of right that thread blocks of cl_split.cu keep
	resident              int  // thread blocks that run at a time, if that must not be exceeded
}

// The limits of cl_bulk.cu: targets of a row and of a part of it, bytes for barriers, and, by
// the size of its kernels, warps of a thread block.
const bulkTargets, bulkPart, bulkBarriers = 32, 8, 256

var bulkWarps = map[int]int{1: 32, 2: 16, 3: 16, 4: 12, 8: 8}

// shapeOf chooses the kernel: cl_bulk.cu on the GPU it is for, if a row's targets are not
// many, with as many warps as there is shared memory for.
func shapeOf(d *cuda.Device, c Config, size int) shape {
	targets := 1 + c.Negatives
	parts := (targets + bulkPart - 1) / bulkPart
	stage := ((targets+parts-1)/parts + 1) * 512 * size // of a warp
	warps := min(bulkWarps[size], (d.SharedOfBlock-bulkBarriers)/stage)
	if d.MachineCode() && targets <= bulkTargets && warps > 0 {
		blocks := min(d.Multiprocessors, (c.Rows+warps-1)/warps)
		return shape{blocks: blocks, warps: warps, shared: bulkBarriers + warps*stage, bulk: true, parts: parts, losses: blocks * warps}
	}
	blocks := (c.Rows + warpsOfStep - 1) / warpsOfStep
	return shape{blocks: blocks, warps: warpsOfStep, losses: blocks}
}

// halfShape has as many thread blocks as run at a time: their warps stay for many rows.
func halfShape(d *cuda.Device, rows int, step cu.Function) (shape, error) {
	const warps = 4
	resident, err := step.MaxActiveBlocksPerMultiProcessor(32*warps, 0)
	blocks := min(d.Multiprocessors*resident, max((rows+warps-1)/warps, 1))
	return shape{blocks: blocks, warps: warps, losses: blocks * warps, resident: d.Multiprocessors * resident}, err
}
