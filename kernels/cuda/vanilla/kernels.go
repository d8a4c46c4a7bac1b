//go:build gpu

package vanilla

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/subword"
)

// Kernels train minibatches of W2V-Vanilla on a device.
type Kernels struct {
	device    *cuda.Device
	options   Options
	optimizer cuda.Optimizer
	tables    [2]table         // of composed words the first has those of a minibatch
	network   *subword.Batches // composes words; or nil

	scores, gradients, update, gather cu.Function

	// In the device's memory, of a minibatch:
	coefficients, gradient, places cu.DevicePtr

	buffers [2]buffer
	count   uint32 // of minibatches that were launched: their number in places
}

// A table is W or C with the state of its optimizer.
type table struct {
	values cu.DevicePtr
	cuda.State
}

const warpsOfBlock = 8

// New takes the device's memory for training. All tables are zero.
func New(d *cuda.Device, c Options) (*Kernels, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return nil, err
	}
	if c.Rows < 1 || c.Dim < 1 || c.Negatives < 1 || c.Batch < 1 {
		return nil, fmt.Errorf("%d rows, dimension %d, %d negatives, minibatches of %d: all must be at least 1", c.Rows, c.Dim, c.Negatives, c.Batch)
	}
	method, err := cuda.FindMethod(c.Method)
	if err != nil {
		return nil, err
	}
	optimizer := cuda.Optimizer{Method: method, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay}
	k := &Kernels{device: d, options: c, optimizer: optimizer}
	err = d.Do(func() error {
		a := &cuda.Allocator{Device: d}
		k.scores = a.Function("vanilla/vanilla", cuda.Sized("vanilla_scores", size), 0)
		k.gradients = a.Function("vanilla/vanilla", cuda.Sized("vanilla_gradients", size), 0)
		k.update = a.Function("vanilla/vanilla", method.Sized("vanilla_update", size), 0)
		k.gather = a.Function("vanilla/vanilla", "vanilla_gather", 0)
		if k.allocate(a); a.Err == nil && c.Encoder != nil {
			k.network, a.Err = subword.NewBatches(d, optimizer, c.Rows, c.Dim, c.Batch, c.Dense, *c.Encoder)
		}
		return a.Err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare W2V-Vanilla on %s: %w", d.Name, err)
	}
	return k, nil
}

func (k *Kernels) allocate(a *cuda.Allocator) {
	c := k.options
	row := 16 * cuda.Quads(c.Dim)
	for side := range k.tables {
		k.tables[side].values = a.Bytes("a table", c.Rows*row)
		if side == 1 || c.Encoder == nil {
			k.tables[side].State = a.State(k.optimizer.Method, c.Rows, row)
		}
	}
	k.coefficients = a.Floats("coefficients", c.Batch*c.width())
	k.gradient = a.Bytes("gradients", mostSegments(c)*row)
	k.places = a.Bytes("places of gradients", 2*c.Rows*16)
	for i := range k.buffers {
		if a.Err == nil {
			k.buffers[i].done, a.Err = cu.MakeEvent(cu.DisableTiming)
		}
	}
}

// Close frees the memory that Device.Close does not free.
func (k *Kernels) Close() error {
	return k.device.Do(func() error {
		err := k.device.Stream().Synchronize() // it may be using the memory
		for i := range k.buffers {
			err = errors.Join(err, k.buffers[i].free(k.device))
		}
		return err
	})
}

// A buffer is the memory of a unit that is under way: pinned on the host, so that the device
// copies from it while the host does other things, and on the device.
type buffer struct {
	lefts, contexts, entries transfer[uint32]
	segments                 transfer[segment]
	losses                   transfer[float32] // (minibatches, thread blocks of scores)

	// Of composed words: those of minibatches, their numbers of segments, what the network reads of them, and its steps.
	words, slots, lists, symbols transfer[uint32]
	steps                        transfer[cuda.StepNumbers]
	spelt                        [][2]int // of each minibatch: where lists and symbols begin

	done   cu.Event
	blocks []int // of each minibatch: how many losses there are
}

// A transfer is a slice on the host and on the device. It grows.
type transfer[T any] struct {
	host   []T
	device cu.DevicePtr
}

// grow makes room for n values, half as many more than asked for.
func (t *transfer[T]) grow(d *cuda.Device, n int) error {
	if n <= len(t.host) {
		return nil
	}
	if err := t.free(d); err != nil {
		return err
	}
	n += n / 2
	var err error
	if t.host, err = cuda.Pinned[T](n); err != nil {
		return err
	}
	t.device, err = d.Allocate("minibatches", cuda.Bytes[T](n))
	return err
}

func (t *transfer[T]) free(d *cuda.Device) error {
	err := errors.Join(cuda.Unpin(t.host), d.Free(t.device))
	t.host, t.device = nil, 0
	return err
}

func (t *transfer[T]) send(d *cuda.Device, values []T) error {
	if err := t.grow(d, len(values)); err != nil || len(values) == 0 {
		return err
	}
	copy(t.host, values)
	return cu.MemcpyHtoDAsync(t.device, unsafe.Pointer(&t.host[0]), cuda.Bytes[T](len(values)), d.Stream())
}

func (b *buffer) free(d *cuda.Device) error {
	composed := errors.Join(b.words.free(d), b.slots.free(d), b.lists.free(d), b.symbols.free(d), b.steps.free(d))
	return errors.Join(b.lefts.free(d), b.contexts.free(d), b.entries.free(d), b.segments.free(d), b.losses.free(d), composed, cu.DestroyEvent(&b.done))
}

// Start begins to train the minibatches of a unit, of which the first is number first, counted
// from 1, at a learning rate. It may be called for one buffer, 0 or 1, while the other is under
// way. The unit is copied.
func (k *Kernels) Start(number int, u *Unit, first int, rate float64) error {
	b := &k.buffers[number]
	if err := k.device.Do(func() error { return k.enqueue(b, u, first, rate) }); err != nil {
		return fmt.Errorf("minibatches %d to %d on %s: %w", first, first+u.Minibatches()-1, k.device.Name, err)
	}
	return nil
}

func (k *Kernels) enqueue(b *buffer, u *Unit, first int, rate float64) error {
	d := k.device
	err := errors.Join(b.lefts.send(d, u.lefts), b.contexts.send(d, u.contexts), b.entries.send(d, u.entries),
		b.segments.send(d, u.segments), b.losses.grow(d, len(u.minibatches)*k.lossesOf()))
	if err != nil {
		return err
	}
	if k.network != nil {
		if err := errors.Join(k.sendWords(b, u, first, rate), k.network.Standardize()); err != nil {
			return err
		}
	}
	b.blocks = b.blocks[:0]
	for i, m := range u.minibatches {
		b.blocks = append(b.blocks, gridOf(m.lefts).Blocks)
		a := k.args(b, m, i, first+i, rate)
		if k.network == nil {
			err = k.launch(a, a, i == 0)
		} else {
			err = k.launchComposed(b, a, m, i)
		}
		if err != nil {
			return err
		}
	}
	if n := len(u.minibatches) * k.lossesOf(); n > 0 {
		if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&b.losses.host[0]), b.losses.device, cuda.Bytes[float32](n), d.Stream()); err != nil {
			return err
		}
	}
	return b.done.Record(d.Stream())
}

// lossesOf returns how many losses a minibatch has at most: one a thread block.
func (k *Kernels) lossesOf() int { return gridOf(k.options.Batch).Blocks }

// Wait waits for a buffer that was started and returns the loss of its minibatches, summed over
// their pairs.
func (k *Kernels) Wait(number int) (loss float64, err error) {
	b := &k.buffers[number]
	if err := k.device.Do(b.done.Synchronize); err != nil {
		return 0, fmt.Errorf("minibatches on %s: %w", k.device.Name, err)
	}
	for i, count := range b.blocks {
		for _, x := range b.losses.host[i*k.lossesOf():][:count] {
			loss += float64(x)
		}
	}
	return loss, nil
}

// args describes minibatch number i of a unit. step is its number in training, from 1.
func (k *Kernels) args(b *buffer, m minibatch, i, step int, rate float64) *minibatchArgs {
	c := k.options
	a := &minibatchArgs{
		step:  k.optimizer.Step(step, rate),
		lefts: at[uint32](b.lefts.device, m.left), contexts: at[uint32](b.contexts.device, m.left*c.width()),
		entries: at[uint32](b.entries.device, 2*m.left*c.width()), segments: at[segment](b.segments.device, m.segment),
		coefficients: uint64(k.coefficients), gradients: uint64(k.gradient), places: uint64(k.places),
		losses:    at[float32](b.losses.device, i*k.lossesOf()),
		leftCount: uint32(m.lefts), width: uint32(c.width()), segmentCount: uint32(m.segments),
	}
	for side, t := range k.tables {
		a.tables[side] = cuda.Table{
			Values: uint64(t.values), First: uint64(t.First), Second: uint64(t.Second), SecondOfRow: uint64(t.SecondOfRow),
			Rows: uint32(c.Rows), Quads: uint32(cuda.Quads(c.Dim)), Columns: uint32(c.Dim), Decays: k.optimizer.Decays(),
		}
	}
	if c.Dense {
		a.dense = 1
	}
	k.count++
	a.number = k.count
	return a
}

// at returns the address of value number n of a slice of the device.
func at[T any](p cu.DevicePtr, n int) uint64 { return uint64(p) + uint64(cuda.Bytes[T](n)) }

// minibatchArgs is Minibatch of vanilla.cu.
type minibatchArgs struct {
	tables                                                                      [2]cuda.Table
	step                                                                        cuda.StepNumbers
	_                                                                           uint32
	lefts, contexts, entries, segments, coefficients, gradients, places, losses uint64
	leftCount, width, segmentCount, number, dense, own                          uint32
	composed, strideComposed, slots                                             uint64
	units                                                                       float32
	_                                                                           uint32
}

// launch starts the three kernels of a minibatch. Only the last reads the arguments update. The first minibatch of a unit waits for
// what was copied.
func (k *Kernels) launch(a, update *minibatchArgs, first bool) error {
	rows := int(a.segmentCount)
	if k.options.Dense {
		rows = 2 * k.options.Rows
	}
	early := k.device.Overlaps()
	if err := cuda.LaunchEarly(k.device, k.scores, gridOf(int(a.leftCount)), a, early && !first); err != nil {
		return err
	}
	if err := cuda.LaunchEarly(k.device, k.gradients, gridOf(int(a.segmentCount)), a, early); err != nil {
		return err
	}
	return cuda.LaunchEarly(k.device, k.update, gridOf(rows), update, early)
}

// sendWords begins to copy what composing the words of a unit needs.
func (k *Kernels) sendWords(b *buffer, u *Unit, first int, rate float64) error {
	var lists, symbols []uint32
	var steps []cuda.StepNumbers
	b.spelt = b.spelt[:0]
	for i, m := range u.minibatches {
		b.spelt = append(b.spelt, [2]int{len(lists), len(symbols)})
		lists, symbols = k.network.Spell(u.words[m.word:][:m.words], lists, symbols)
		steps = append(steps, k.optimizer.Step(first+i, rate*k.options.Encoder.Rate))
	}
	d := k.device
	return errors.Join(b.words.send(d, u.words), b.slots.send(d, u.slots), b.lists.send(d, lists), b.symbols.send(d, symbols), b.steps.send(d, steps))
}

// launchComposed starts to compose the words of minibatch number i of a unit, to train on it, and to train the network.
func (k *Kernels) launchComposed(b *buffer, a *minibatchArgs, m minibatch, i int) error {
	n, rows, quads, update := k.network, k.tables[0].values, cuda.Quads(k.options.Dim), *a
	values, stride, units := n.Gradient()
	update.composed, update.strideComposed, update.units = uint64(values), stride, units
	update.slots = at[uint32](b.slots.device, m.segment)
	if update.tables[0].First, update.tables[0].Second = uint64(rows), uint64(rows); n.Own.Values != 0 { // the kernel reads them, whatever they are
		update.own, update.tables[0] = 1, n.Own
		grid := cuda.Grid{Blocks: (m.words*quads + 255) / 256, Threads: 256}
		words := at[uint32](b.words.device, m.word)
		if err := k.device.LaunchValues(k.gather, grid, n.Own.Values, words, uint64(rows), uint64(m.words*quads), uint64(quads)); err != nil {
			return err
		}
	}
	lists, symbols := at[uint32](b.lists.device, b.spelt[i][0]), at[uint32](b.symbols.device, b.spelt[i][1])
	if err := n.Compose(cu.DevicePtr(lists), cu.DevicePtr(symbols), m.words, rows); err != nil {
		return err
	}
	if err := k.launch(a, &update, true); err != nil {
		return err
	}
	return n.Train(cu.DevicePtr(at[cuda.StepNumbers](b.steps.device, i)))
}

// gridOf returns the shape of a launch of so many warps.
func gridOf(warps int) cuda.Grid {
	return cuda.Grid{Blocks: (warps + warpsOfBlock - 1) / warpsOfBlock, Threads: 32 * warpsOfBlock}
}

// Send sends a tensor of the state of graph's trainer, by its name there: W, C or moments.
func (k *Kernels) Send(name string, values []float32) error {
	if k.network != nil && !strings.HasPrefix(name, "contexts") {
		return k.network.Send(name, values)
	}
	return k.transfer(name, values,
		func(to cu.DevicePtr) error {
			return cuda.SendRows(to, values, k.options.Dim, 4*cuda.Quads(k.options.Dim))
		},
		func(to cu.DevicePtr) error { return cuda.Send(to, values) })
}

// Receive receives a tensor of the state of graph's trainer.
func (k *Kernels) Receive(name string, values []float32) error {
	if k.network != nil && !strings.HasPrefix(name, "contexts") {
		return k.network.Receive(name, values)
	}
	return k.transfer(name, values,
		func(from cu.DevicePtr) error {
			return cuda.ReceiveRows(values, from, k.options.Dim, 4*cuda.Quads(k.options.Dim))
		},
		func(from cu.DevicePtr) error { return cuda.Receive(values, from) })
}

// transfer copies a tensor: one of (V, N), or second moments of rows, (V).
func (k *Kernels) transfer(name string, values []float32, ofRows, ofMoments func(cu.DevicePtr) error) error {
	c := k.options
	for side, table := range []string{"words", "contexts"} {
		t := k.tables[side]
		whole := map[string]cu.DevicePtr{table: t.values, table + ".first-moment": t.First, table + ".second-moment": t.Second}[name]
		switch {
		case whole != 0 && len(values) == c.Rows*c.Dim:
			return k.device.Do(func() error { return ofRows(whole) })
		case t.SecondOfRow != 0 && name == table+".second-moment" && len(values) == c.Rows:
			return k.device.Do(func() error { return ofMoments(t.SecondOfRow) })
		}
	}
	return fmt.Errorf("copy %s: there is no such tensor of %d values for %d rows of dimension %d and optimizer %s", name, len(values), c.Rows, c.Dim, c.Method)
}
