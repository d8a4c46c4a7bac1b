//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// EncoderConfig is an encoder of package subword, its Structure: a character CNN,
// or n-grams if there are no widths.
type EncoderConfig struct {
	Starts, Symbols  []uint32 // symbols of word v, or its n-grams: Symbols[Starts[v]:Starts[v+1]]
	Alphabet         int      // A, symbols; U, n-grams
	CharDim, Filters int      // E, and F of each width
	Widths           []int    // w
	Words            bool     // words have vectors of their own, too
	Rate             float64  // learning rate of the parameters relative to that of tables
}

// MaxCNNWidths and MaxCNNSymbols are what the kernels take at most of a CNN's
// widths and a word's symbols.
const (
	MaxCNNWidths  = 16
	MaxCNNSymbols = 65_000
)

func (e EncoderConfig) check(words int) error {
	switch {
	case len(e.Widths) > MaxCNNWidths:
		return fmt.Errorf("filters of %d widths; the kernels take at most %d", len(e.Widths), MaxCNNWidths)
	case len(e.Starts) != words+1:
		return fmt.Errorf("symbols of %d words instead of %d", len(e.Starts)-1, words)
	case e.Alphabet < 1 || len(e.Widths) > 0 && (e.CharDim < 1 || e.Filters < 1):
		return fmt.Errorf("%d symbols, embeddings of %d values, %d filters: all must be at least 1", e.Alphabet, e.CharDim, e.Filters)
	}
	widest := 0
	for _, w := range e.Widths {
		widest = max(widest, w)
	}
	for v, first := range e.Starts[:words] {
		n := int(e.Starts[v+1]) - int(first)
		if n < widest || len(e.Widths) > 0 && n > MaxCNNSymbols {
			return fmt.Errorf("word %d has %d symbols; the kernels take from the widest filter, %d, to %d", v, n, widest, MaxCNNSymbols)
		}
	}
	for i, s := range e.Symbols {
		if int(s) >= e.Alphabet {
			return fmt.Errorf("symbol %d is %d, of an alphabet of %d", i, s, e.Alphabet)
		}
	}
	return nil
}

// EncodedCL trains W2V-CL with composed words on a device: step 1 of
// graph.NewTwoStepWithEncoder trains the parameters of an encoder, step 2 the
// contexts as CL does.
//
// The rows that an encoder composes lie where CL has W. The moments there are
// those of words' own vectors.
type EncodedCL struct {
	*CL
	encoder  encoder
	rate     float64
	words    matrix // words' own vectors, without a value if there are none
	gradient cu.Function

	tensors map[string]tensor

	rateSteps      [2][]clStep  // of the encoder, by buffer; pinned
	steps          cu.DevicePtr // the same on the device
	losses, totals cu.DevicePtr // (CLBlock, blocks) and (2, CLBlock): losses of step 1, and the sums of both steps
	graph          *recording
}

// An encoder is what an EncodedCL has its rows from.
type encoder interface {
	// compose launches what writes the rows; the table of words' own vectors, or 0,
	// is added.
	compose(rows, words cu.DevicePtr) error
	// target says where the gradient of the rows goes.
	target(*gradientArgs)
	// update launches what trains the parameters by the gradient, in the step of
	// which the device has the rates at a place.
	update(step cu.DevicePtr) error
	// matrices returns the parameters by their names.
	matrices() map[string]matrix
	// sent prepares for parameters that came from the host.
	sent() error
}

// gradientArgs is Gradient of subword_gradient.cu.
type gradientArgs struct {
	table        clArgs
	split        splitMatrix
	plain, words cu.DevicePtr
	step, column cu.DevicePtr
	losses       cu.DevicePtr
}

// NewEncodedCL takes the device's memory for training. All parameters and the
// contexts are zero.
func (d *Device) NewEncodedCL(c CLConfig, e EncoderConfig) (*EncodedCL, error) {
	if c.Method == "sgd" {
		return nil, errors.New("encoders are not trained with optimizer sgd")
	}
	if err := e.check(c.Rows); err != nil {
		return nil, err
	}
	cl, err := d.NewCL(c)
	if err != nil {
		return nil, err
	}
	t := &EncodedCL{CL: cl, rate: e.Rate, tensors: map[string]tensor{}}
	if err := d.do(func() error { return t.allocate(e) }); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare an encoder on %s: %w", d.Name, err), t.Close())
	}
	return t, nil
}

func (t *EncodedCL) allocate(e EncoderConfig) (err error) {
	c, a := t.config, &allocator{device: t.device}
	f, err := variant(c.Dim)
	if err != nil {
		return err
	}
	t.gradient = a.function("subword_gradient", fmt.Sprintf("subword_gradient_%s_%d", clMethods[c.Method], f), 0)
	t.steps = a.bytes("steps", int(sizeOf[clStep](CLBlock)))
	t.losses = a.floats("losses", CLBlock*t.gradientBlocks())
	t.totals = a.bytes("losses", 8*clBlock)
	own := &t.tables[0]
	if e.Words {
		t.words = matrix{
			value: a.floats("words' own vectors", c.Rows*4*quads(c.Dim)), first: own.first, second: own.second, secondOfRow: own.secondOfRow,
			rows: c.Rows, columns: c.Dim, stride: 4 * quads(c.Dim),
		}
		t.addTensors("words", t.words)
	} else { // composed rows have no moments
		if err := t.device.free(own.first, own.second, own.secondOfRow); err != nil {
			return err
		}
		own.first, own.second, own.secondOfRow = 0, 0, 0
	}
	if a.err != nil {
		return a.err
	}
	if len(e.Widths) > 0 {
		t.encoder, err = newCNN(t.device, c, e)
	} else {
		t.encoder, err = newNGrams(t.device, c, e)
	}
	if err != nil {
		return err
	}
	for name, m := range t.encoder.matrices() {
		t.addTensors(name, m)
	}
	for i := range t.rateSteps {
		if t.rateSteps[i], err = pinned[clStep](CLBlock); err != nil {
			return err
		}
	}
	return nil
}

// gradientBlocks is how many blocks of warps have a row each.
func (t *EncodedCL) gradientBlocks() int { return (t.config.Rows + gradientWarps - 1) / gradientWarps }

const gradientWarps = 4 // warpsOfBlock of subword_gradient.cu

// Start begins to train the iterations first, first+1, ..., as CL.Start does.
func (t *EncodedCL) Start(buffer, first int, rates []float64) error {
	if len(rates) == 0 || len(rates) > CLBlock {
		return fmt.Errorf("%d iterations at a time; there may be 1 to %d", len(rates), CLBlock)
	}
	b := &t.buffers[buffer]
	b.first, b.count = first, 2*len(rates)
	for i, rate := range rates {
		for side := range 2 {
			b.steps[2*i+side] = t.config.step(CLIteration{Number: first + i, Rate: rate}, side)
		}
		t.rateSteps[buffer][i] = t.config.step(CLIteration{Number: first + i, Rate: rate * t.rate}, 0)
	}
	if err := t.device.do(func() error { return t.enqueue(buffer) }); err != nil {
		return t.failed(b, err)
	}
	return nil
}

// Wait waits for the iterations of a buffer that was started and returns the loss
// of each.
func (t *EncodedCL) Wait(buffer int) ([]float64, error) {
	b := &t.buffers[buffer]
	if err := t.device.do(b.done.Synchronize); err != nil {
		return nil, t.failed(b, err)
	}
	losses := make([]float64, b.count/2)
	for i := range losses {
		losses[i] = b.totals[i] + b.totals[CLBlock+i]
	}
	return losses, nil
}

// enqueue hands the device all that a block takes, in the order of the stream.
func (t *EncodedCL) enqueue(buffer int) error {
	b, s := &t.buffers[buffer], t.device.stream
	if err := t.enqueueColumns(b); err != nil {
		return err
	}
	if err := cu.MemcpyHtoDAsync(t.CL.steps, unsafe.Pointer(&b.steps[0]), sizeOf[clStep](b.count), s); err != nil {
		return err
	}
	if err := cu.MemcpyHtoDAsync(t.steps, unsafe.Pointer(&t.rateSteps[buffer][0]), sizeOf[clStep](b.count/2), s); err != nil {
		return err
	}
	if err := t.launch(b.count / 2); err != nil {
		return err
	}
	if err := cu.MemcpyDtoHAsync(unsafe.Pointer(&b.totals[0]), t.totals, sizeOf[float64](clBlock), s); err != nil {
		return err
	}
	return b.done.Record(s)
}

// launch starts the first count iterations: all of them by the graph.
func (t *EncodedCL) launch(count int) (err error) {
	if count < CLBlock {
		return t.launchEach(count)
	}
	if t.graph == nil {
		if t.graph, err = record(t.device.stream, func() error { return t.launchEach(CLBlock) }); err != nil {
			return err
		}
	}
	return t.graph.launch(t.device.stream)
}

func (t *EncodedCL) launchEach(count int) error {
	d := t.device
	for i := range count {
		if err := t.trainEncoder(i); err != nil {
			return err
		}
		if err := t.CL.launchStep(2*i+1, i, false); err != nil { // step 2 is that of CL
			return err
		}
	}
	blocks, contexts := uint64(t.gradientBlocks()), uint64(t.shape.losses)
	if err := d.launch(t.sum, count, lossThread, 0, uint64(t.losses), blocks, uint64(t.totals)); err != nil {
		return err
	}
	return d.launch(t.sum, count, lossThread, 0, uint64(t.CL.losses), contexts, uint64(t.totals)+8*CLBlock)
}

// trainEncoder launches step 1 of iteration i of a block.
func (t *EncodedCL) trainEncoder(i int) error {
	rows := t.tables[0].values
	if err := t.encoder.compose(rows, t.words.value); err != nil {
		return err
	}
	a := gradientArgs{
		table:  t.args(0),
		words:  t.words.value,
		step:   t.CL.steps + cu.DevicePtr(sizeOf[clStep](2*i)),
		column: t.columns + cu.DevicePtr(sizeOf[uint32](i*t.config.Rows)),
		losses: t.losses + cu.DevicePtr(4*i*t.gradientBlocks()),
	}
	t.encoder.target(&a)
	if err := launchWith(t.device, t.gradient, t.gradientBlocks(), 32*gradientWarps, 0, &a); err != nil {
		return err
	}
	return t.encoder.update(t.steps + cu.DevicePtr(sizeOf[clStep](i)))
}

// Close frees the memory that is not the device's to free.
func (t *EncodedCL) Close() error {
	err := t.CL.Close() // waits for what is under way
	return errors.Join(err, t.device.do(func() error {
		var err error
		if t.graph != nil {
			err = t.graph.free()
		}
		for _, steps := range t.rateSteps {
			err = errors.Join(err, unpin(steps))
		}
		return err
	}))
}
