//go:build gpu

package subword

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// Kernels train W2V-CL with composed words on a device: step 1 trains the parameters of an
// encoder, step 2 the contexts as cl.Kernels do. The rows that the encoder composes lie
// where cl.Kernels have W.
type Kernels struct {
	*cl.Kernels
	parameters
	options cl.Options
	encoder encoder
	rate    float64
	words   matrix // words' own vectors; without a value if there are none

	optimizer cuda.Optimizer

	gradient cu.Function

	beside cu.DevicePtr
	come   cu.Function
	coming cu.DevicePtr // (V), the last step that a row has come in
	skips  bool
	// If the encoder does not skip rows:
	forget cu.Function
	aside  *cuda.Aside
}

// An encoder composes the rows of W.
type encoder interface {
	// prepare and compose launch the kernels that write the rows, compose those that fill the device. The table of words' own
	// vectors, unless it is 0, is added. Rows that the iteration does not read may keep what they were.
	prepare(rows, words cu.DevicePtr, m cl.StepMemory) error
	compose(rows, words cu.DevicePtr) error
	// target is where the gradient of the rows goes, and by what that of each is multiplied, (V); 0: by 1.
	target() (gradient narrowMatrix, weights cu.DevicePtr)
	// skips says that update leaves the rows alone in which trained, (V), has another number than the step's, and prepare those in which
	// coming has, unless the iteration may read all.
	skips(trained, coming cu.DevicePtr) bool
	// gradient and update launch the kernels that train the parameters by the gradient: those that fill the device, and then
	// all others. step is where the device has the step's numbers.
	gradient(step cu.DevicePtr) error
	update(step cu.DevicePtr) error
	// beside is how many multiprocessors step 2 leaves to update.
	beside() int
	// matrices returns the parameters by their names.
	matrices() map[string]matrix
	// sent prepares for parameters that came from the host.
	sent() error
}

// besideArgs is Beside of composed.cu.
type besideArgs struct {
	own         cu.DevicePtr
	gradients   cl.Gradients
	words, rows uint32
	shift, _    uint32
}

// New takes the device's memory for training. All parameters and the contexts are zero.
func New(d *cuda.Device, c cl.Options, e Structure) (*Kernels, error) {
	if err := e.check(c.Rows); err != nil {
		return nil, err
	}
	return newKernels(d, c, e.Rate, e.Words, func(a *allocator) (encoder, error) { return newCNN(a, c, e) })
}

// newKernels is New of an encoder whose parameters learn at a rate, beside words' own vectors or not.
func newKernels(d *cuda.Device, c cl.Options, rate float64, own bool, create func(a *allocator) (encoder, error)) (*Kernels, error) {
	steps, err := cl.NewComposed(d, c)
	if err != nil {
		return nil, err
	}
	k, err := newPart(steps, d, c, rate, own, create)
	if err != nil {
		return nil, errors.Join(err, steps.Close())
	}
	return k, nil
}

// newPart makes the first step of a device.
func newPart(steps *cl.Kernels, d *cuda.Device, c cl.Options, rate float64, own bool, create func(a *allocator) (encoder, error)) (*Kernels, error) {
	method, err := cuda.FindMethod(c.Method)
	switch {
	case err != nil:
		return nil, err
	case !method.Adaptive:
		return nil, fmt.Errorf("encoders are not trained with optimizer %s", c.Method)
	case c.HalfPrecision:
		return nil, errors.New("encoders are not trained with half precision")
	}
	k := &Kernels{
		Kernels: steps, parameters: parameters{d, map[string]tensor{}}, options: c, rate: rate,
		optimizer: cuda.Optimizer{Method: method, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay},
	}
	if err = d.Do(func() error { return k.allocate(own, create) }); err == nil {
		err = k.SetFirstStep(k)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare an encoder on %s: %w", d.Name, err)
	}
	return k, nil
}

func (e Structure) check(words int) error {
	switch {
	case len(e.Widths) < 1 || len(e.Widths) > MaxWidths:
		return fmt.Errorf("filters of %d widths; the kernels take from 1 to %d", len(e.Widths), MaxWidths)
	case len(e.Starts) != words*e.Each()+1:
		return fmt.Errorf("symbols of %d words instead of %d, %d spellings of each", len(e.Starts)-1, words, e.Each())
	case len(e.Filters) != len(e.Widths):
		return fmt.Errorf("%d numbers of filters for %d widths", len(e.Filters), len(e.Widths))
	case e.Activation != "" && !slices.Contains(Activations, e.Activation):
		return fmt.Errorf("activation %q is none of %v", e.Activation, Activations)
	case e.Alphabet < 1 || e.CharDim < 1 || slices.Min(e.Filters) < 1:
		return fmt.Errorf("%d symbols, embeddings of %d values, filters %v: all must be at least 1", e.Alphabet, e.CharDim, e.Filters)
	}
	widest := slices.Max(e.Widths)
	for v, first := range e.Starts[:len(e.Starts)-1] {
		n := int(e.Starts[v+1]) - int(first)
		if n < widest || n > MaxSymbols {
			return fmt.Errorf("word %d has %d symbols; the kernels take from the widest filter, %d, to %d", v, n, widest, MaxSymbols)
		}
	}
	for i, s := range e.Symbols {
		if int(s) >= e.Alphabet {
			return fmt.Errorf("symbol %d is %d, of an alphabet of %d", i, s, e.Alphabet)
		}
	}
	return nil
}

func (k *Kernels) allocate(own bool, create func(a *allocator) (encoder, error)) (err error) {
	c, a := k.options, newAllocator(k.device, k.optimizer)
	a.steps = k.Kernels
	a.number, a.of = k.Number()
	if own {
		n := stride(c.Dim)
		k.words = matrix{value: a.Floats("words' own vectors", (c.Rows+a.of-1)*n), rows: c.Rows, columns: c.Dim, stride: n, own: a.of > 1}
		k.words.State = a.State(k.optimizer.Method, a.own(c.Rows), 4*n)
		k.addTensors("words", k.words)
		k.tensors["words"] = tensor{k.words.value + cu.DevicePtr(4*n*a.number), c.Rows, c.Dim, n * a.of, k.words.own} // other rows stay 0
	}
	if a.Err != nil {
		return a.Err
	}
	if k.encoder, err = create(a); err != nil {
		return err
	}
	for name, m := range k.encoder.matrices() {
		k.addTensors(name, m)
	}
	return k.allocateBeside(a)
}

// allocateBeside prepares step 1.
func (k *Kernels) allocateBeside(a *allocator) (err error) {
	size, err := cuda.KernelSize(k.options.Dim)
	if err != nil {
		return err
	}
	if k.gradient, err = k.StepFunction("subword/composed", k.optimizer.Sized("composed", size)); err != nil {
		return err
	}
	rows := k.options.Rows
	gradient, weights := k.encoder.target()
	if weights == 0 {
		weights = placed(a, "weights of words", slices.Repeat([]float32{1}, rows))
	}
	trained := placed(a, "steps of words", slices.Repeat([]uint32{math.MaxUint32}, rows))
	b := besideArgs{
		own:       cmp.Or(k.words.value, k.Rows()),
		gradients: cl.Gradients{Rows: gradient, Weights: weights, Trained: trained},
		words:     number(k.words.value != 0), rows: uint32(rows), shift: uint32(bits.TrailingZeros(uint(a.of))),
	}
	k.beside = placed(a, "arguments", []besideArgs{b})
	k.come = a.Function("subword/composed", "subword_come", 0)
	k.coming = placed(a, "steps of words", slices.Repeat([]uint32{math.MaxUint32}, rows))
	if k.skips = k.encoder.skips(trained, k.coming); k.skips || a.Err != nil {
		return a.Err
	}
	k.forget = a.Function("subword/composed", "subword_forget", 0)
	if k.aside, err = k.device.NewAside(); err != nil {
		return err
	}
	return a.Err
}

// Rate returns the learning rate of the parameters divided by the rate of tables.
func (k *Kernels) Rate() float64 { return k.rate }

// launchCome starts to note the rows that an iteration reads: in its first step, and if both in its second one.
func (k *Kernels) launchCome(m cl.StepMemory, both bool) error {
	x := m.Met
	if !both {
		x.Slots, x.Negatives = 0, 0
	}
	grid := cuda.Grid{Blocks: (int(x.Slots+x.Negatives+x.MostJobs) + 255) / 256, Threads: 256}
	return k.device.LaunchValues(k.come, grid, uint64(x.Jobs), uint64(x.Tiles), uint64(x.Samples), uint64(x.Slots),
		uint64(x.Shared), uint64(x.Negatives), uint64(k.coming), uint64(m.Tables), uint64(k.options.Rows))
}

// Prepare starts what the rows need, and to set the gradients to zero that the step will not write.
func (k *Kernels) Prepare(m cl.StepMemory) error {
	if k.skips {
		if m.Met.Slots > 0 {
			if err := k.launchCome(m, true); err != nil {
				return err
			}
		}
		return k.encoder.prepare(m.Rows, k.words.value, m)
	}
	err := k.aside.Do(func() error {
		if err := k.launchCome(m, false); err != nil {
			return err
		}
		grid := cuda.Grid{Blocks: (k.options.Rows + 127) / 128, Threads: 128}
		return k.device.LaunchValues(k.forget, grid, uint64(k.beside), uint64(k.coming), uint64(m.Tables))
	})
	if err != nil {
		return err
	}
	if err := k.encoder.prepare(m.Rows, k.words.value, m); err != nil {
		return err
	}
	return k.aside.Join()
}

// Compose starts to write the rows.
func (k *Kernels) Compose(m cl.StepMemory) error {
	return k.encoder.compose(m.Rows, k.words.value)
}

// Launch starts step 1. Without words' own vectors it reads the rows in their place.
func (k *Kernels) Launch(m cl.StepMemory) error {
	own := cuda.State{First: cmp.Or(k.words.First, m.Rows), Second: cmp.Or(k.words.Second, m.Rows), SecondOfRow: cmp.Or(k.words.SecondOfRow, m.Rows)}
	// Encoders that skip rows compose them on the second stream, so step 1 follows step 2. It must not begin before that ends: it reads C.
	launch := func() error { return k.LaunchFirst(k.gradient, m.Number, own, k.beside, !k.skips) }
	if _, of := k.Number(); of == 1 {
		return launch()
	}
	// Only step 2 needs the rows of other devices. The devices meet before it.
	rows := func(k *cl.Kernels) cu.DevicePtr { return k.RowsOf(m.Number) }
	share := func() error { return k.Share(rows, k.options.Rows, 4*stride(k.options.Dim), false) }
	return cmp.Or(k.aside.Do(share), launch(), k.aside.Join())
}

// Gradient starts to train the encoder.
func (k *Kernels) Gradient(m cl.StepMemory) error { return k.encoder.gradient(m.Parameters) }

// Beside returns how many multiprocessors step 2 leaves to Update.
func (k *Kernels) Beside() int { return k.encoder.beside() }

// Update starts what is left of it.
func (k *Kernels) Update(m cl.StepMemory) error { return k.encoder.update(m.Parameters) }

// Send sends a tensor of the state of graph's trainer, by its name there.
func (k *Kernels) Send(name string, values []float32) error {
	if strings.HasPrefix(name, "contexts") {
		return k.Kernels.Send(name, values)
	}
	return k.transfer(name, values, func(x tensor) error {
		if err := cuda.SendRows(x.at, k.held(values, x), x.columns, x.stride); err != nil {
			return err
		}
		return k.encoder.sent()
	})
}

// Receive receives a tensor of the state of graph's trainer.
func (k *Kernels) Receive(name string, values []float32) error {
	if strings.HasPrefix(name, "contexts") {
		return k.Kernels.Receive(name, values)
	}
	return k.transfer(name, values, func(x tensor) error {
		held := k.held(values, x)
		err := cuda.ReceiveRows(held, x.at, x.columns, x.stride)
		if x.own {
			k.PutRows(values, held, x.columns)
		}
		return err
	})
}
