//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// CLBlock is how many iterations Start takes at most.
const CLBlock = clBlock / 2

// A clBuffer is host memory that the device copies from and to while the host
// does other things: of a block of iterations that is under way.
type clBuffer struct {
	columns []uint32 // (2, CLBlock, V); nil: not asked for
	steps   []clStep
	totals  []float64 // losses of the half steps
	done    cu.Event
	first   int // number of the first iteration
	count   int // half steps under way
}

func (b *clBuffer) allocate() (err error) {
	if b.steps, err = pinned[clStep](clBlock); err != nil {
		return err
	}
	if b.totals, err = pinned[float64](clBlock); err != nil {
		return err
	}
	b.done, err = cu.MakeEvent(cu.DisableTiming)
	return err
}

func (b *clBuffer) free() error {
	return errors.Join(unpin(b.columns), unpin(b.steps), unpin(b.totals), cu.DestroyEvent(&b.done))
}

// Block is CLBlock.
func (t *CL) Block() int { return CLBlock }

// Columns returns the memory, of buffer 0 or 1, that the columns of M are put
// into before Start: (2, CLBlock, V), those of the two steps of each iteration. It
// is not to be written to between Start and Wait. After SetMatrix nothing in it
// counts.
func (t *CL) Columns(buffer int) ([]uint32, error) {
	b := &t.buffers[buffer]
	if b.columns != nil {
		return b.columns, nil
	}
	err := t.device.do(func() (err error) {
		b.columns, err = pinned[uint32](clBlock * t.config.Rows)
		return err
	})
	return b.columns, err
}

// Start begins to train the iterations first, first+1, ..., one for each of the
// learning rates, at most CLBlock, with the columns of the buffer. It does not
// wait: while one buffer is trained, the other may be filled and started.
func (t *CL) Start(buffer, first int, rates []float64) error {
	iterations := make([]CLIteration, len(rates))
	for i, rate := range rates {
		iterations[i] = CLIteration{Number: first + i, Rate: rate}
	}
	return t.start(buffer, iterations)
}

// Wait waits for the iterations of a buffer that was started and returns the loss
// of each.
func (t *CL) Wait(buffer int) ([]float64, error) {
	b := &t.buffers[buffer]
	if err := t.device.do(b.done.Synchronize); err != nil {
		return nil, t.failed(b, err)
	}
	losses := make([]float64, b.count/2)
	for i := range losses {
		losses[i] = b.totals[2*i] + b.totals[2*i+1]
	}
	return losses, nil
}

func (t *CL) failed(b *clBuffer, err error) error {
	return fmt.Errorf("iterations %d to %d on %s: %w", b.first, b.first+b.count/2-1, t.device.Name, err)
}

// start is Start for iterations whose columns are in the buffer already.
func (t *CL) start(buffer int, iterations []CLIteration) error {
	if len(iterations) == 0 || len(iterations) > CLBlock {
		return fmt.Errorf("%d iterations at a time; there may be 1 to %d", len(iterations), CLBlock)
	}
	b := &t.buffers[buffer]
	b.first, b.count = iterations[0].Number, 2*len(iterations)
	for i := range b.count {
		b.steps[i] = t.config.step(iterations[i/2], i%2)
	}
	if err := t.device.do(func() error { return t.enqueue(b) }); err != nil {
		return t.failed(b, err)
	}
	return nil
}

// enqueue hands the device all that a block takes. The stream keeps the order,
// so the blocks may share the device's own memory.
func (t *CL) enqueue(b *clBuffer) error {
	s := t.device.stream
	if err := t.enqueueColumns(b); err != nil {
		return err
	}
	if err := cu.MemcpyHtoDAsync(t.steps, unsafe.Pointer(&b.steps[0]), sizeOf[clStep](b.count), s); err != nil {
		return err
	}
	if err := t.launch(b.count); err != nil {
		return err
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&b.totals[0]), t.totals, sizeOf[float64](b.count), s); err != nil {
		return err
	}
	return b.done.Record(s)
}

// enqueueColumns hands the device the columns of a block, or has it draw them.
func (t *CL) enqueueColumns(b *clBuffer) error {
	if t.reader != nil {
		return t.reader.draw(t, b.first, b.count/2)
	}
	for side := range 2 {
		at := side * CLBlock * t.config.Rows
		bytes := sizeOf[uint32](b.count / 2 * t.config.Rows)
		if err := cu.MemcpyHtoDAsync(t.columns+cu.DevicePtr(4*at), unsafe.Pointer(&b.columns[at]), bytes, t.device.stream); err != nil {
			return err
		}
	}
	return nil
}
