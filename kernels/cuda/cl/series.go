//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A buffer is pinned memory of the host, for a series of iterations that is under way: the
// device copies from and to it while the host does other things.
type buffer struct {
	samples []uint32           // (2, series, slots); nil: not asked for
	steps   []cuda.StepNumbers // as Kernels.steps
	losses  []lossUnits        // as Kernels.losses
	counts  []float64          // as jobLists.counts
	shared  []uint32           // as Kernels.shared; nil: there are none
	tag     []uint32           // as exchange.tag, and behind it whether a wait of a series was given up
	done    cu.Event
	first   int // number of the first iteration
	count   int // iterations under way
}

func (b *buffer) allocate(shared int) (err error) {
	if shared > 0 {
		if b.shared, err = cuda.Pinned[uint32](steps * shared); err != nil {
			return err
		}
	}
	if b.steps, err = cuda.Pinned[cuda.StepNumbers](steps + SeriesLength); err != nil {
		return err
	}
	if b.tag, err = cuda.Pinned[uint32](2); err != nil {
		return err
	}
	if b.counts, err = cuda.Pinned[float64](SeriesLength); err != nil {
		return err
	}
	if b.losses, err = cuda.Pinned[lossUnits](steps); err != nil {
		return err
	}
	b.done, err = cu.MakeEvent(cu.DisableTiming)
	return err
}

func (b *buffer) free() error {
	return errors.Join(cuda.Unpin(b.samples), cuda.Unpin(b.shared), cuda.Unpin(b.steps), cuda.Unpin(b.tag), cuda.Unpin(b.counts), cuda.Unpin(b.losses), cu.DestroyEvent(&b.done))
}

// SeriesLength returns how many iterations Start takes at most.
func (k *Kernels) SeriesLength() int { return k.series }

// Samples returns the memory of buffer 0 or 1 for the samples of M that Start reads: (2,
// SeriesLength(), S), first those of step 1 of all iterations, then of step 2. It must not
// be written to between Start and Wait. After SetMatrix it is of no effect.
func (k *Kernels) Samples(buffer int) ([]uint32, error) {
	b := &k.buffers[buffer]
	if b.samples != nil {
		return b.samples, nil
	}
	err := k.device.Do(func() (err error) {
		b.samples, err = cuda.Pinned[uint32](2 * k.series * k.slots)
		return err
	})
	return b.samples, err
}

// Start begins to train the iterations first, first+1, ..., one for each of the learning
// rates, at most SeriesLength(), with the samples of the buffer. It does not wait: while one
// buffer is trained, the other may be filled and started.
func (k *Kernels) Start(buffer, first int, rates []float64) error {
	if len(rates) == 0 || len(rates) > k.series {
		return fmt.Errorf("%d iterations at a time; there may be 1 to %d", len(rates), k.series)
	}
	b := &k.buffers[buffer]
	b.first, b.count = first, len(rates)
	for i, rate := range rates {
		for side := range 2 {
			b.steps[2*i+side] = k.numbers(first+i, side, rate)
			if h := k.options.SharedNegatives; h > 0 {
				k.options.DrawShared(b.shared[(2*i+side)*h:][:h], first+i, side)
			}
		}
		if k.first != nil {
			b.steps[steps+i] = k.numbers(first+i, 0, rate*k.first.Rate())
		}
	}
	if err := k.device.Do(func() error { return k.enqueue(b) }); err != nil {
		return k.failed(b, err)
	}
	return nil
}

// Wait waits for the iterations of a buffer that was started. It returns the loss of each,
// summed over its pairs, and how many samples its two steps had.
func (k *Kernels) Wait(buffer int) (losses, samples []float64, err error) {
	b := &k.buffers[buffer]
	err = k.device.Do(b.done.Synchronize)
	if err == nil {
		err = k.exchange.check(b)
	}
	if err != nil {
		return nil, nil, k.failed(b, err)
	}
	losses, samples = make([]float64, b.count), make([]float64, b.count)
	for i := range losses {
		losses[i], samples[i] = b.losses[2*i].value()+b.losses[2*i+1].value(), 2*float64(k.options.Rows)
		if k.lists != nil {
			samples[i] = 2 * b.counts[i]
		}
	}
	return losses, samples, nil
}

func (k *Kernels) failed(b *buffer, err error) error {
	return fmt.Errorf("iterations %d to %d on %s: %w", b.first, b.first+b.count-1, k.device.Name, err)
}

// enqueue hands the device all that a series takes. The stream keeps the order, so both
// buffers may share the device's own memory.
func (k *Kernels) enqueue(b *buffer) error {
	s := k.device.Stream()
	if err := k.enqueueSamples(b); err != nil {
		return err
	}
	if err := k.clear(b); err != nil {
		return err
	}
	if err := cu.MemcpyHtoDAsync(k.steps, unsafe.Pointer(&b.steps[0]), cuda.Bytes[cuda.StepNumbers](2*b.count), s); err != nil {
		return err
	}
	if h := k.options.SharedNegatives; h > 0 {
		if err := cu.MemcpyHtoDAsync(k.shared, unsafe.Pointer(&b.shared[0]), cuda.Bytes[uint32](2*b.count*h), s); err != nil {
			return err
		}
	}
	if k.first != nil {
		if err := cu.MemcpyHtoDAsync(k.stepAt(steps), unsafe.Pointer(&b.steps[steps]), cuda.Bytes[cuda.StepNumbers](b.count), s); err != nil {
			return err
		}
	}
	if err := k.exchange.begin(k.device, b); err != nil {
		return err
	}
	if err := k.launch(2 * b.count); err != nil {
		return err
	}
	if err := k.exchange.end(k.device, b); err != nil {
		return err
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&b.losses[0]), k.losses, cuda.Bytes[lossUnits](2*b.count), s); err != nil {
		return err
	}
	if k.lists != nil {
		if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&b.counts[0]), k.lists.counts, cuda.Bytes[float64](b.count), s); err != nil {
			return err
		}
	}
	return b.done.Record(s)
}

// clear sets the losses of a series to zero, and finds its jobs if it has some.
func (k *Kernels) clear(b *buffer) error {
	if k.lists != nil {
		return k.lists.find(k.device, b.first, b.count)
	}
	return cu.MemsetD32Async(k.losses, 0, cuda.Bytes[lossUnits](2*b.count)/4, k.device.Stream())
}

// enqueueSamples hands the device the samples of a series, or has it draw them.
func (k *Kernels) enqueueSamples(b *buffer) error {
	if k.reader != nil {
		return k.reader.draw(k, b.first, b.count)
	}
	for side := range 2 {
		at := side * k.series * k.slots
		bytes := cuda.Bytes[uint32](b.count * k.slots)
		if err := cu.MemcpyHtoDAsync(k.samples+cu.DevicePtr(4*at), unsafe.Pointer(&b.samples[at]), bytes, k.device.Stream()); err != nil {
			return err
		}
	}
	return nil
}
