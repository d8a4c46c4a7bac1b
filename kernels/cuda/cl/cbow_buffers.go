//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// lists are the lists of a stretch, which lie one behind the other in memory for as many values as lengths says.
func (s *Stretch) lists() []*[]uint32 {
	return []*[]uint32{&s.Words, &s.From, &s.To, &s.Places, &s.Rows, &s.Slots, &s.NegativePlaces, &s.NegativeWords}
}

func (c CBOWOptions) lengths() []int {
	t, most := c.Places, min(c.Rows, c.Places)
	return []int{t, t, t, t, most, most + 1, c.SharedNegatives, c.SharedNegatives}
}

func (c CBOWOptions) values() (values int) {
	for _, length := range c.lengths() {
		values += length
	}
	return values
}

// all is the memory of so many values of the lists.
func (s *Stretch) all(values int) []uint32 { return unsafe.Slice(&s.Words[0], values) }

// A cbowBuffer is pinned memory of the host.
type cbowBuffer struct {
	stretch   Stretch
	all       []uint32 // of the stretch
	order     []rowJob
	steps     []cuda.StepNumbers // of tables, parts, positions
	loss      []lossUnits
	device    cu.DevicePtr // its loss
	done      cu.Event
	iteration int
}

// Stretch returns the memory of a buffer, for the stretch that Start reads: it must not be written to between Start and
// Wait.
func (k *CBOW) Stretch(buffer int) *Stretch { return &k.buffers[buffer].stretch }

// Start begins to train on the stretch of a buffer, which has at least one place and is prepared, at a learning rate. The number of the
// iteration is counted from 0. It does not wait: the device gets a stretch while it trains on the one before.
func (k *CBOW) Start(buffer, iteration int, rate float64) error {
	b := &k.buffers[buffer]
	b.iteration = iteration
	return k.failed(b, k.device.Do(func() error { return k.start(b, rate) }))
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

// start hands the device the stretch and the numbers of an iteration, and launches its kernels.
func (k *CBOW) start(b *cbowBuffer, rate float64) error {
	if err := k.options.checkStretch(&b.stretch); err != nil {
		return err
	}
	b.steps[0] = k.optimizer.Step(b.iteration+1, rate)
	ofPositions := k.optimizer
	ofPositions.WeightDecay = 0 // weights start at 1
	b.steps[2] = ofPositions.Step(b.iteration+1, rate*k.options.PositionRate)
	if x := k.options.Composition; x != nil {
		b.steps[1] = k.optimizer.Step(b.iteration+1, rate*float64(x.Rate))
		b.steps[1].Stream = uint32(b.iteration + 1) // no word was trained in 0
	}
	args := k.args
	args.loss = b.device
	if err := k.arrivals.begin(b, &args); err != nil {
		return err
	}
	for _, x := range k.launches(args) {
		if err := x.start(); err != nil {
			return err
		}
	}
	ended, err := k.arrivals.end(k.device.Stream())
	if err != nil {
		return err
	}
	// The copy is not on the device's own stream, where the next iteration would wait for it.
	return errors.Join(k.results.Wait(ended, 0), cu.MemcpyDtoHAsync(unsafe.Pointer(&b.loss[0]), b.device, cuda.Bytes[lossUnits](1), k.results), b.done.Record(k.results))
}

func (k *CBOW) allocateBuffers(a *cuda.Allocator) {
	k.arrivals.allocate(a, k.options)
	a.Do(func() (err error) { k.results, err = k.device.NewCopyStream(); return err })
	k.buffers = make([]cbowBuffer, k.options.Buffers)
	for i := range k.buffers {
		k.buffers[i].device = a.Bytes("losses", int(cuda.Bytes[lossUnits](1)))
		k.buffers[i].allocate(a, k.options)
	}
}

func (b *cbowBuffer) allocate(a *cuda.Allocator, c CBOWOptions) {
	b.steps, b.loss = cuda.PinnedBy[cuda.StepNumbers](a, 3), cuda.PinnedBy[lossUnits](a, 1)
	a.Do(func() (err error) { b.done, err = cu.MakeEvent(cu.DisableTiming); return err })
	b.all, b.order = cuda.PinnedBy[uint32](a, c.values()), cuda.PinnedBy[rowJob](a, c.mostRowJobs())
	rest, lists := b.all, b.stretch.lists()
	for i, length := range c.lengths() {
		if rest != nil {
			*lists[i], rest = rest[:0:length], rest[length:]
		}
	}
	b.stretch.order = b.order[:0]
}

// Close frees the memory that Device.Close does not free.
func (k *CBOW) Close() error {
	return k.device.Do(func() error {
		err := errors.Join(k.arrivals.stream.Synchronize(), k.device.Stream().Synchronize(), k.results.Synchronize()) // they may be using the memory
		err = errors.Join(err, k.arrivals.free(), k.results.Destroy())
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
}

// A cbowTensor is a tensor of the state, (rows, width), in rows of stride values.
type cbowTensor struct {
	at                  cu.DevicePtr
	rows, width, stride int
}

// newTable takes the memory of a table, and names its tensors.
func (k *CBOW) newTable(a *cuda.Allocator, name string, rows int) cbowTable {
	dim, stride := k.options.Dim, 4*cuda.Quads(k.options.Dim)
	t := cbowTable{values: a.Floats(name, rows*stride), State: a.State(k.optimizer.Method, rows, 4*stride), rows: rows}
	for suffix, p := range map[string]cu.DevicePtr{"": t.values, ".first-moment": t.First, ".second-moment": t.Second} {
		if p != 0 {
			k.tensors[name+suffix] = cbowTensor{p, rows, dim, stride}
		}
	}
	if t.SecondOfRow != 0 {
		k.tensors[name+".second-moment"] = cbowTensor{t.SecondOfRow, rows, 1, 1}
	}
	return t
}

func (k *CBOW) tableArgs(t cbowTable) cuda.Table {
	return cuda.Table{
		Values: uint64(t.values), First: uint64(t.First), Second: uint64(t.Second), SecondOfRow: uint64(t.SecondOfRow),
		Rows: uint32(t.rows), Quads: uint32(cuda.Quads(k.options.Dim)), Columns: uint32(k.options.Dim), Decays: k.optimizer.Decays(),
	}
}

// newUpdates takes the memory of the numbers of updates.
func (k *CBOW) newUpdates(a *cuda.Allocator, name string, rows int) cu.DevicePtr {
	p := a.Floats(name, rows)
	k.tensors[name] = cbowTensor{p, rows, 1, 1}
	return p
}

// Send sends a tensor of the state of graph's trainer, by its name there.
func (k *CBOW) Send(name string, values []float32) error {
	return k.transfer(name, values, func(x cbowTensor) error {
		if err := cuda.SendRows(x.at, values, x.width, x.stride); err != nil || x.at != k.parts.values {
			return err
		}
		return k.composition.Narrow()
	})
}

// Receive receives a tensor of the state of graph's trainer.
func (k *CBOW) Receive(name string, values []float32) error {
	return k.transfer(name, values, func(x cbowTensor) error {
		return cuda.ReceiveRows(values, x.at, x.width, x.stride)
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
