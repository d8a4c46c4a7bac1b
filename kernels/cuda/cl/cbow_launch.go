//go:build gpu

package cl

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// Stretch returns the memory of a buffer, for the stretch that Start reads: it must not be written to between Start and
// Wait.
func (k *CBOW) Stretch(buffer int) *Stretch { return &k.buffers[buffer].stretch }

// Start begins to train on the stretch of a buffer, which has at least one place and is prepared, at a learning rate. The number of the
// iteration is counted from 0. It does not wait: the device gets a stretch while it trains on the one before.
func (k *CBOW) Start(buffer, iteration int, rate float64) error {
	b := &k.buffers[buffer]
	b.iteration = iteration
	return k.failed(b, k.device.Do(func() error {
		if err := k.begin(b, rate); err != nil {
			return err
		}
		return k.finish(b)
	}))
}

// checkStretch refuses what the kernels have no memory for.
func (c CBOWOptions) checkStretch(s *Stretch) error {
	p, a := len(s.Words), len(s.Rows)
	if p < 1 || p > c.Places || len(s.From) != p || len(s.To) != p || len(s.Places) != p || a > min(c.Rows, p) || len(s.Slots) != a+1 ||
		len(s.Windows) != c.SharedNegatives || len(s.Targets) != c.SharedNegatives || len(s.order) == 0 || len(s.order) > c.mostRowJobs() {
		return fmt.Errorf("a stretch of %d places and %d rows is not whole, or not prepared", p, a)
	}
	return nil
}

// Wait waits for the iteration of a buffer that was started and returns its loss.
func (k *CBOW) Wait(buffer int) (loss float64, err error) {
	b := &k.buffers[buffer]
	if err := k.device.Do(b.done.Synchronize); err != nil {
		return 0, k.failed(b, err)
	}
	return b.loss[0].value(), nil
}

// failed says of an error where it was.
func (k *CBOW) failed(b *cbowBuffer, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("iteration %d on %s: %w", b.iteration, k.device.Name, err)
}

// begin hands the device the stretch and the numbers of an iteration and makes its jobs, on a stream of its own. It starts the first
// kernels, up to those that compose rows. The stretch takes the place of the one before the last.
func (k *CBOW) begin(b *cbowBuffer, rate float64) error {
	if err := k.options.checkStretch(&b.stretch); err != nil {
		return err
	}
	b.steps[0] = k.optimizer.Step(b.iteration+1, rate)
	if x := k.options.Composition; x != nil {
		b.steps[1] = k.optimizer.Step(b.iteration+1, rate*float64(x.Rate))
		b.steps[1].Stream = uint32(b.iteration + 1)
	}
	own, to := k.device.Stream(), &k.areas[k.started%2]
	if err := k.copying.Wait(to.done, 0); err != nil {
		return err
	}
	if err := k.copyStretch(b, to); err != nil {
		return err
	}
	args := k.argsOf(b, to)
	if err := k.makeJobs(&args, k.copying); err != nil {
		return err
	}
	if err := to.copied.Record(k.copying); err != nil {
		return err
	}
	if err := own.Wait(to.copied, 0); err != nil {
		return err
	}
	var composing []cbowLaunch
	composing, b.rest = k.launches(args)
	k.stale = false
	if err := launchAll(composing); err != nil {
		return err
	}
	return k.group.tell(own)
}

// finish hands it all else. Of a group all have begun.
func (k *CBOW) finish(b *cbowBuffer) error {
	own := k.device.Stream()
	if err := k.group.wait(own); err != nil {
		return err
	}
	if err := launchAll(b.rest); err != nil {
		return err
	}
	if err := k.areas[k.started%2].done.Record(own); err != nil {
		return err
	}
	k.started++
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&b.loss[0]), b.device, cuda.Bytes[lossUnits](1), own); err != nil {
		return err
	}
	return b.done.Record(own)
}

func (k *CBOW) copyStretch(b *cbowBuffer, to *area) error {
	s := &b.stretch
	h := 4 * cu.DevicePtr(len(s.Windows))
	for _, x := range []struct {
		to     cu.DevicePtr
		values []uint32
	}{
		{to.words, s.Words}, {to.from, s.From}, {to.to, s.To}, {to.places, s.Places}, {to.rows, s.Rows}, {to.slots, s.Slots},
		{to.negatives, s.Windows}, {to.negatives + h, s.Targets},
	} {
		if err := copyAsync(x.to, x.values, k.copying); err != nil {
			return err
		}
	}
	if err := copyAsync(to.order, s.order, k.copying); err != nil {
		return err
	}
	return copyAsync(to.steps, b.steps, k.copying)
}

// copyAsync starts to copy values of pinned memory, at least one.
func copyAsync[T any](to cu.DevicePtr, values []T, s cu.Stream) error {
	return cu.MemcpyHtoDAsync(to, unsafe.Pointer(&values[0]), cuda.Bytes[T](len(values)), s)
}

// A cbowLaunch is a kernel of an iteration.
type cbowLaunch struct {
	name  string
	start func() error
}

func launchAll(all []cbowLaunch) error {
	for _, x := range all {
		if err := x.start(); err != nil {
			return err
		}
	}
	return nil
}

// argsOf returns the arguments of the kernels of an iteration.
func (k *CBOW) argsOf(b *cbowBuffer, in *area) stretchArgs {
	s, a := &b.stretch, k.args
	a.stretch = stretchOfArgs{
		words: in.words, from: in.from, to: in.to, rows: in.rows, slots: in.slots, places: in.places,
		windows: in.negatives, targets: in.negatives + 4*cu.DevicePtr(len(s.Windows)), order: in.order,
		count: uint32(len(s.Words)), rowCount: uint32(len(s.Rows)), tiles: uint32(len(s.order) / tileRows), window: uint32(k.options.Window),
	}
	a.jobs, a.tiles, a.next = in.jobs, in.tiles, in.next
	a.steps, a.loss, a.iteration = in.steps, b.device, uint32(b.iteration+1) // no word was trained in 0
	return a
}

// makeJobs starts the kernel that makes the jobs of an iteration.
func (k *CBOW) makeJobs(a *stretchArgs, on cu.Stream) error {
	return cuda.LaunchOn(on, k.start, cuda.Grid{Blocks: ceil(int(a.stretch.tiles)*tileRows, 256), Threads: 256}, a)
}

// launches returns the other kernels in their order: up to those that compose rows, and the rest.
func (k *CBOW) launches(a stretchArgs) (composing, rest []cbowLaunch) {
	early, places, rows, parts := k.device.Overlaps(), int(a.stretch.count), int(a.stretch.rowCount), k.parts
	k.group.exchange(k.started, &a, &parts.args)
	parts.args.list, parts.args.words = a.stretch.rows, a.stretch.rowCount
	step := a.steps + cu.DevicePtr(cuda.Bytes[cuda.StepNumbers](1))
	var all []cbowLaunch
	add := func(name string, f cu.Function, a stretchArgs, grid cuda.Grid) {
		waits := name == "means" && (k.group != nil || k.options.Composition == nil) // for others, or for the stretch
		all = append(all, cbowLaunch{name, func() error { return cuda.LaunchEarly(k.device, f, grid, &a, early && !waits) }})
	}
	addPlaces := func(name string, f cu.Function, resident, shared int) {
		a := a
		a.places = uint32(k.placesOfBlock(places, resident))
		add(name, f, a, cuda.Grid{Blocks: ceil(places, int(a.places)), Threads: 32 * warpsOfPlaces, Shared: shared})
	}
	addTiles := func(name string, f cu.Function, x tilesLaunch, rows, most int) {
		add(name, f, a, cuda.Grid{Blocks: min(most, ceil(rows, x.warps)), Threads: 32 * x.warps, Shared: x.shared})
	}
	addParts := func(name string, start func() error) {
		if k.options.Composition != nil {
			all = append(all, cbowLaunch{name, start})
		}
	}
	if k.stale {
		addParts("narrow", parts.Narrow)
	}
	addParts("compose", func() error { return parts.Compose(a.composed, k.words.values, 0, step) })
	composing, all = all, nil
	jobs, s := int(a.stretch.tiles)*tileRows, &k.shapes
	addPlaces("means", k.means, s.means, k.tileShared(false))
	all = append(all, cbowLaunch{"step 1", func() error {
		grid := cuda.Grid{Blocks: min(s.step.blocks, ceil(jobs, s.step.warps)), Threads: 32 * s.step.warps, Shared: s.step.shared}
		return cuda.LaunchEarly(k.device, k.step, grid, k.stepArgs(&a), early)
	}})
	addTiles("words", k.ofWords, s.words, rows, k.device.Multiprocessors) // leaves room for places, which begins beside it
	addPlaces("places", k.places, s.places, k.tileShared(true))
	addTiles("rows", k.rows, s.rows, jobs, s.rows.blocks)
	addParts("train", func() error { return parts.Train(a.gradient, a.trained, step, early) })
	return composing, all
}

// ownSize is F of the kernels for the columns that the device has.
func (k *CBOW) ownSize() int {
	size, _ := cuda.KernelSize(k.own.count) // NewCBOW has refused what has none
	return size
}

func ceil(x, of int) int { return (x + of - 1) / of }

// stepArgs are those of step 1: C against the means of windows.
func (k *CBOW) stepArgs(a *stretchArgs) *stepArgs {
	c := k.options
	return &stepArgs{
		table: stepTable{
			left: uint64(k.context.values), positives: uint64(a.means), negatives: uint64(a.means),
			first: uint64(k.context.First), second: uint64(k.context.Second), secondOfRow: uint64(k.context.SecondOfRow),
			rows: uint32(c.Rows), stride: uint32(4 * cuda.Quads(c.Dim)), columns: uint32(c.Dim),
			weight: a.weight, decay: a.rule.decay, epsilon: a.rule.epsilon, Decays: k.optimizer.Decays(), bias: a.bias,
		},
		dense: k.shapes.step.dense, step: uint64(a.steps), samples: uint64(a.stretch.places), jobs: uint64(a.jobs), tiles: uint64(a.tiles), next: uint64(a.next),
		losses: uint64(a.loss), shared: uint64(a.stretch.windows),
	}
}

// Send sends a tensor of the state of graph's trainer, by its name there.
func (k *CBOW) Send(name string, values []float32) error {
	k.stale = true
	return k.transfer(name, values, func(x cbowTensor) error {
		return cuda.SendColumns(x.at, values, x.width, x.columns)
	})
}

// Receive receives a tensor of the state of graph's trainer.
func (k *CBOW) Receive(name string, values []float32) error {
	return k.transfer(name, values, func(x cbowTensor) error {
		return cuda.ReceiveColumns(values, x.at, x.width, x.columns)
	})
}

func (k *CBOW) transfer(name string, values []float32, rows func(cbowTensor) error) error {
	x, ok := k.tensors[name]
	if !ok || len(values) != x.rows*x.width {
		return fmt.Errorf("copy %s: there is no such tensor of %d values for %d rows of dimension %d and optimizer %s",
			name, len(values), k.options.Rows, k.options.Dim, k.options.Method)
	}
	if err := k.device.Do(func() error { return rows(x) }); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}
