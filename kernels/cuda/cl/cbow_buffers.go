//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// An area is the device's memory for a stretch.
type area struct {
	words, from, to, places, rows, slots, negatives, order, steps, jobs, tiles, next cu.DevicePtr

	copied, done cu.Event
}

// A cbowBuffer is pinned memory of the host.
type cbowBuffer struct {
	stretch   Stretch
	all       []uint32 // of the stretch
	order     []rowJob
	steps     []cuda.StepNumbers // of tables, of parts
	loss      []lossUnits
	device    cu.DevicePtr // its loss
	done      cu.Event
	iteration int
	kernels   []cbowLaunch // of the iteration, not yet launched
}

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
		len(s.NegativePlaces) != c.SharedNegatives || len(s.NegativeWords) != c.SharedNegatives ||
		len(s.order) == 0 || len(s.order) > c.mostRowJobs() {
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

// begin hands the device the stretch and the numbers of an iteration and makes its jobs, on a stream of its own: both beside the
// iteration before. It starts the kernel that composes rows. The stretch takes the place of the one before the last.
func (k *CBOW) begin(b *cbowBuffer, rate float64) error {
	if err := k.options.checkStretch(&b.stretch); err != nil {
		return err
	}
	b.steps[0] = k.optimizer.Step(b.iteration+1, rate)
	if x := k.options.Composition; x != nil {
		b.steps[1] = k.optimizer.Step(b.iteration+1, rate*float64(x.Rate))
		b.steps[1].Stream = uint32(b.iteration + 1) // as args.iteration: see trained in parts.cu
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
	b.kernels = k.launches(args)
	if k.options.Composition != nil {
		if err := b.launch(1); err != nil {
			return err
		}
	}
	return k.group.tell(own)
}

// finish hands it all else. Of a group all have begun.
func (k *CBOW) finish(b *cbowBuffer) error {
	own := k.device.Stream()
	if err := k.group.wait(own); err != nil {
		return err
	}
	if err := b.launch(len(b.kernels)); err != nil {
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

// launch starts the next n kernels.
func (b *cbowBuffer) launch(n int) error {
	for _, x := range b.kernels[:n] {
		if err := x.start(); err != nil {
			return err
		}
	}
	b.kernels = b.kernels[n:]
	return nil
}

func (k *CBOW) copyStretch(b *cbowBuffer, to *area) error {
	s := &b.stretch
	h := 4 * cu.DevicePtr(len(s.NegativePlaces))
	for _, x := range []struct {
		to     cu.DevicePtr
		values []uint32
	}{
		{to.words, s.Words}, {to.from, s.From}, {to.to, s.To}, {to.places, s.Places}, {to.rows, s.Rows}, {to.slots, s.Slots},
		{to.negatives, s.NegativePlaces}, {to.negatives + h, s.NegativeWords},
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

func (k *CBOW) allocateBuffers(a *cuda.Allocator) {
	for i := range k.areas {
		k.areas[i] = k.newArea(a)
	}
	k.buffers = make([]cbowBuffer, k.options.Buffers)
	for i := range k.buffers {
		k.buffers[i].device = a.Bytes("losses", int(cuda.Bytes[lossUnits](1)))
		if a.Err == nil {
			a.Err = k.buffers[i].allocate(k.options, k.group.reads())
		}
	}
	if a.Err == nil {
		k.copying, a.Err = k.device.NewCopyStream()
	}
}

func (k *CBOW) newArea(a *cuda.Allocator) (r area) {
	c, most := k.options, min(k.options.Rows, k.options.Places)
	for _, p := range []*cu.DevicePtr{&r.words, &r.from, &r.to, &r.places} {
		*p = a.Floats("a stretch", c.Places)
	}
	r.rows, r.slots, r.negatives = a.Floats("a stretch", most), a.Floats("a stretch", most+1), a.Floats("a stretch", 2*c.SharedNegatives)
	r.order = a.Bytes("a stretch", int(cuda.Bytes[rowJob](c.mostRowJobs())))
	r.jobs, r.tiles, r.next = a.Bytes("jobs", int(cuda.Bytes[job](c.mostRowJobs()))), a.Floats("tiles", 1), a.Floats("tiles", 1)
	r.steps = a.Bytes("steps", int(cuda.Bytes[cuda.StepNumbers](2)))
	for _, e := range []*cu.Event{&r.copied, &r.done} {
		if a.Err == nil {
			*e, a.Err = cu.MakeEvent(cu.DisableTiming)
		}
	}
	return r
}

// allocate takes the memory of a buffer, without that of a stretch if another device reads it.
func (b *cbowBuffer) allocate(c CBOWOptions, reads bool) (err error) {
	if reads {
		if err := b.allocateStretch(c); err != nil {
			return err
		}
	}
	if b.steps, err = cuda.Pinned[cuda.StepNumbers](2); err != nil {
		return err
	}
	if b.loss, err = cuda.Pinned[lossUnits](1); err != nil {
		return err
	}
	b.done, err = cu.MakeEvent(cu.DisableTiming)
	return err
}

func (b *cbowBuffer) allocateStretch(c CBOWOptions) (err error) {
	t, most := c.Places, min(c.Rows, c.Places)
	if b.all, err = cuda.Pinned[uint32](4*t + 2*most + 1 + 2*c.SharedNegatives); err != nil {
		return err
	}
	rest := b.all
	s := &b.stretch
	for _, x := range []struct {
		of    *[]uint32
		count int
	}{
		{&s.Words, t}, {&s.From, t}, {&s.To, t}, {&s.Places, t}, {&s.Rows, most}, {&s.Slots, most + 1},
		{&s.NegativePlaces, c.SharedNegatives}, {&s.NegativeWords, c.SharedNegatives},
	} {
		*x.of, rest = rest[:0:x.count], rest[x.count:]
	}
	b.order, err = cuda.Pinned[rowJob](c.mostRowJobs())
	s.order = b.order[:0]
	return err
}

// Close frees the memory that Device.Close does not free.
func (k *CBOW) Close() error {
	return k.device.Do(func() error {
		err := errors.Join(k.copying.Synchronize(), k.device.Stream().Synchronize(), k.copying.Destroy()) // they may be using the memory
		for i := range k.areas {
			err = errors.Join(err, cu.DestroyEvent(&k.areas[i].copied), cu.DestroyEvent(&k.areas[i].done))
		}
		for i := range k.buffers {
			b := &k.buffers[i]
			err = errors.Join(err, cuda.Unpin(b.all), cuda.Unpin(b.order), cuda.Unpin(b.steps), cuda.Unpin(b.loss), cu.DestroyEvent(&b.done))
		}
		return err
	})
}

// A cbowTable is a table in the device's memory, with the state of its optimizer.
type cbowTable struct {
	values cu.DevicePtr
	cuda.State
	rows int
	columns
}

// A cbowTensor is a tensor of the state, (rows, width), or the columns of it that the device has.
type cbowTensor struct {
	at          cu.DevicePtr
	rows, width int
	columns     cuda.Columns
	common      bool // every device of a group has all of it
}

const contexts = "contexts" // the tensor C

// newTable takes the memory of columns of a table, and names its tensors.
func (k *CBOW) newTable(a *cuda.Allocator, name string, rows int, x columns) cbowTable {
	dim, quads := k.options.Dim, x.quads(k.options.Dim)
	t := cbowTable{values: a.Floats(name, rows*4*quads), State: a.State(k.optimizer.Method, rows, 16*quads), rows: rows, columns: x}
	for suffix, p := range map[string]cu.DevicePtr{"": t.values, ".first-moment": t.First, ".second-moment": t.Second} {
		if p != 0 {
			k.tensors[name+suffix] = cbowTensor{p, rows, dim, cuda.Columns{First: x.first, Count: x.count, Stride: 4 * quads}, name == contexts}
		}
	}
	if t.SecondOfRow != 0 {
		k.tensors[name+".second-moment"] = cbowTensor{t.SecondOfRow, rows, 1, cuda.Columns{Count: 1, Stride: 1}, true}
	}
	return t
}

func (k *CBOW) tableArgs(t cbowTable) cuda.Table {
	return cuda.Table{
		Values: uint64(t.values), First: uint64(t.First), Second: uint64(t.Second), SecondOfRow: uint64(t.SecondOfRow),
		Rows: uint32(t.rows), Quads: uint32(t.quads(k.options.Dim)), Columns: uint32(t.count), Decays: k.optimizer.Decays(),
	}
}

// newUpdates takes the memory of the numbers of updates.
func (k *CBOW) newUpdates(a *cuda.Allocator, name string, rows int) cu.DevicePtr {
	p := a.Floats(name, rows)
	k.tensors[name] = cbowTensor{p, rows, 1, cuda.Columns{Count: 1, Stride: 1}, true}
	return p
}

// Send sends a tensor of the state of graph's trainer, by its name there.
func (k *CBOW) Send(name string, values []float32) error {
	return k.transfer(name, values, func(x cbowTensor) error {
		if err := cuda.SendColumns(x.at, values, x.width, x.columns); err != nil || x.at != k.parts.values {
			return err
		}
		return k.composition.Narrow()
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
