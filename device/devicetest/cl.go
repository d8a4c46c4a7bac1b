package devicetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// An optimizer is one of package optim.
type optimizer interface {
	Begin(step int, rate float64)
	UpdateRow(row int, w, g []float32)
	State() []trainer.Tensor
}

// optimizerOf returns the configuration of the optimizer.
func optimizerOf(c cl.Config) optim.Config {
	return optim.Config{Method: optim.Method(c.Method), Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay}
}

// NewCL returns kernels of W2V-CL.
func (d *Device) NewCL(c cl.Config, e *kernels.Config) (device.CLKernels, error) {
	k := &clKernels{device: d, Config: c}
	if e != nil {
		var err error
		if k.encoder, err = newEncoder(*e, c.Rows, c.Dim, optimizerOf(c)); err != nil {
			return nil, err
		}
		k.state = k.encoder.state()
	}
	for side, name := range []string{"words", "contexts"} {
		k.tables[side] = make([]float32, c.Rows*c.Dim)
		if side == 0 && k.encoder != nil {
			continue
		}
		o, err := optim.New(optimizerOf(c), c.Rows, c.Dim)
		if err != nil {
			return nil, err
		}
		k.optimizers[side] = o
		k.state = append(k.state, trainer.Tensor{Name: name, Data: k.tables[side]})
		for _, t := range o.State() {
			k.state = append(k.state, trainer.Tensor{Name: name + "." + t.Name, Data: t.Data})
		}
	}
	for i := range k.columns {
		k.columns[i] = make([]uint32, 2*seriesLength*c.Rows)
	}
	d.Open++
	return k, d.Fail
}

type clKernels struct {
	device *Device
	cl.Config
	encoder    *encoder // nil: words are a table
	tables     [2][]float32
	optimizers [2]optimizer
	state      []trainer.Tensor
	columns    [2][]uint32
	matrix     *wordcontext.Matrix // or nil
	losses     [2][]float64        // of the iterations under way
}

func (k *clKernels) Close() error { k.device.Open--; return nil }

func (k *clKernels) tensor(name string, values []float32) ([]float32, error) {
	for _, t := range k.state {
		if t.Name == name && len(t.Data) == len(values) {
			return t.Data, k.device.Fail
		}
	}
	return nil, fmt.Errorf("no tensor %s of %d values", name, len(values))
}

func (k *clKernels) Send(name string, values []float32) error {
	t, err := k.tensor(name, values)
	copy(t, values)
	return err
}

func (k *clKernels) Receive(name string, values []float32) error {
	t, err := k.tensor(name, values)
	copy(values, t)
	return err
}

// seriesLength is less than that of kernels, to have many series.
const seriesLength = 5

func (k *clKernels) SeriesLength() int { return seriesLength }

func (k *clKernels) Columns(buffer int) ([]uint32, error) {
	return k.columns[buffer], k.device.Fail
}

// SetMatrix takes a wordcontext.Matrix, which knows its entries.
func (k *clKernels) SetMatrix(m cl.Matrix) error {
	k.matrix = m.(*wordcontext.Matrix)
	return k.device.Fail
}

// Start computes at once, but with the columns as they are then.
func (k *clKernels) Start(buffer, first int, rates []float64) error {
	if k.losses[buffer] != nil || len(rates) < 1 || len(rates) > seriesLength {
		return fmt.Errorf("buffer %d started for %d iterations while %d are under way", buffer, len(rates), len(k.losses[buffer]))
	}
	losses := make([]float64, len(rates))
	for i, rate := range rates {
		for side := range 2 {
			column := k.columns[buffer][(side*seriesLength+i)*k.Rows:][:k.Rows]
			if k.matrix != nil {
				k.matrix.Samples(side, first+i, 1, 0, k.Rows, column)
			}
			losses[i] += k.step(first+i, side, column, rate)
		}
	}
	k.losses[buffer] = losses
	return k.device.launch(len(rates), &losses[0])
}

// Wait spoils the columns: nobody may count on them.
func (k *clKernels) Wait(buffer int) ([]float64, error) {
	losses := k.losses[buffer]
	if losses == nil {
		return nil, fmt.Errorf("waited for buffer %d, which was not started", buffer)
	}
	k.losses[buffer] = nil
	for i := range k.columns[buffer] {
		k.columns[buffer][i] = math.MaxUint32
	}
	return losses, k.device.Fail
}

// step is one step of an iteration, which updates the table of a side; see cl.cu.
func (k *clKernels) step(iteration, side int, column []uint32, rate float64) (loss float64) {
	left, right := k.tables[side], slices.Clone(k.tables[1-side])
	composed := side == 0 && k.encoder != nil
	var gradients []float32
	if composed {
		k.encoder.compose(left)
	} else {
		k.optimizers[side].Begin(iteration+1, rate)
	}
	stream := corpus.StreamNegatives.Sub(uint32(2*iteration + side))
	for i, positive := range column {
		row, gradient := left[i*k.Dim:][:k.Dim], make([]float32, k.Dim)
		pair := func(target uint32, isPositive bool) {
			other := right[int(target)*k.Dim:][:k.Dim]
			score := dot(row, other)
			g := sigmoid(score)
			if isPositive {
				g--
			}
			loss += lossOf(score, isPositive)
			for j, x := range other {
				gradient[j] += float32(g * float64(x))
			}
		}
		if positive != math.MaxUint32 {
			pair(positive, true)
			for n := range k.Negatives {
				pair(draw(k.Alias, randomBits(k.Seed, stream, uint64(i*k.Negatives+n))), false)
			}
		}
		if gradients = append(gradients, gradient...); !composed {
			k.optimizers[side].UpdateRow(i, row, gradient)
		}
	}
	if composed {
		k.encoder.train(gradients, iteration+1, rate)
	}
	return loss
}
