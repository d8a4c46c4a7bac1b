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
	UpdateMean(row, updates, samples int, w, g []float32)
	State() []trainer.Tensor
}

// optimizerOf returns the configuration of the optimizer.
func optimizerOf(c cl.Config) optim.Config {
	return optim.Config{Method: optim.Method(c.Method), Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay}
}

// NewCL returns kernels of W2V-CL.
func (d *Device) NewCL(c cl.Config, e *kernels.Config) (device.CLKernels, error) {
	k := &clKernels{memory: memory{device: d}, Config: c}
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
	k.slots = make([]uint32, c.Rows+1)
	for i := range k.slots {
		k.slots[i] = uint32(i)
	}
	if c.Shares != nil {
		k.slots = c.Shares.Slots
	}
	for i := range k.samples {
		k.samples[i] = make([]uint32, 2*seriesLength*k.slots[c.Rows])
	}
	k.copies = make([][2][]float32, 1)
	k.copies[0] = k.tables
	for len(k.copies) < d.Parts && k.SplitsRows() {
		k.copies = append(k.copies, [2][]float32{make([]float32, c.Rows*c.Dim), make([]float32, c.Rows*c.Dim)})
	}
	d.Open++
	return k, d.Fail
}

type clKernels struct {
	memory
	cl.Config
	encoder    *encoder // nil: words are a table
	tables     [2][]float32
	copies     [][2][]float32 // of the tables, those first: of each GPU that shares the rows
	optimizers [2]optimizer
	slots      []uint32
	samples    [2][]uint32
	matrix     *wordcontext.Matrix // or nil
	losses     [2][]float64        // of the iterations under way
	counts     [2][]float64        // of samples
}

func (k *clKernels) Close() error { k.device.Open--; return nil }

// seriesLength is less than that of kernels, to have many series.
const seriesLength = 5

func (k *clKernels) SeriesLength() int { return seriesLength }

func (k *clKernels) Samples(buffer int) ([]uint32, error) {
	return k.samples[buffer], k.device.Fail
}

// SetMatrix takes a wordcontext.Matrix, which knows its entries.
func (k *clKernels) SetMatrix(m cl.Matrix) error {
	k.matrix = m.(*wordcontext.Matrix)
	return k.device.Fail
}

// Start computes at once, but with the samples as they are then.
func (k *clKernels) Start(buffer, first int, rates []float64) error {
	if k.losses[buffer] != nil || len(rates) < 1 || len(rates) > seriesLength {
		return fmt.Errorf("buffer %d started for %d iterations while %d are under way", buffer, len(rates), len(k.losses[buffer]))
	}
	for _, other := range k.copies[1:] { // what was sent
		copy(other[0], k.tables[0])
		copy(other[1], k.tables[1])
	}
	losses, counts := make([]float64, len(rates)), make([]float64, len(rates))
	size := int(k.slots[k.Rows])
	for i, rate := range rates {
		for side := range 2 {
			column := side
			if k.SameColumn {
				column = 0
			}
			samples := k.samples[buffer][(column*seriesLength+i)*size:][:size]
			if k.matrix != nil {
				k.matrix.Samples(column, first+i, 1, 0, k.Rows, samples)
			}
			loss, count := k.step(first+i, side, samples, rate)
			losses[i] += loss
			counts[i] += count
		}
	}
	k.losses[buffer], k.counts[buffer] = losses, counts
	return k.device.launch(len(rates), &losses[0])
}

// Wait spoils the samples: nobody may count on them.
func (k *clKernels) Wait(buffer int) (losses, samples []float64, err error) {
	losses, samples = k.losses[buffer], k.counts[buffer]
	if losses == nil {
		return nil, nil, fmt.Errorf("waited for buffer %d, which was not started", buffer)
	}
	k.losses[buffer] = nil
	for i := range k.samples[buffer] {
		k.samples[buffer][i] = math.MaxUint32
	}
	return losses, samples, k.device.Fail
}

// updates returns how often a row has been updated after an iteration.
func (k *clKernels) updates(row, iteration int) int {
	if k.Shares == nil || int(k.Shares.Lengths[row]) >= k.Shares.Contexts {
		return iteration + 1
	}
	return (((iteration + 1) * int(k.Shares.Lengths[row])) + int(k.Shares.Phases[row])) / k.Shares.Contexts
}

// step is one step of an iteration, which updates the table of a side; see cl.cu and
// tempered.cuh. It returns the loss and the number of samples.
func (k *clKernels) step(iteration, side int, samples []uint32, rate float64) (loss, count float64) {
	left := k.tables[side]
	composed := side == 0 && k.encoder != nil
	var gradients []float32
	var shares []int // samples of each word, if they differ
	if composed {
		gradients = make([]float32, len(left))
		k.encoder.compose(left)
	} else {
		k.optimizers[side].Begin(iteration+1, rate)
	}
	stream := corpus.StreamNegatives.Sub(uint32(2*iteration + side))
	shared := make([]uint32, k.SharedNegatives)
	if len(shared) > 0 {
		k.DrawShared(shared, iteration, side)
	}
	for i := range k.Rows {
		positives := samples[k.slots[i]:k.slots[i+1]]
		if n := slices.Index(positives, wordcontext.NoSample); n >= 0 {
			positives = positives[:n]
		}
		if k.Shares != nil || k.SharedNegatives > 0 {
			shares = append(shares, len(positives))
		}
		if len(positives) == 0 {
			continue
		}
		count += float64(len(positives))
		mine := k.copies[i%len(k.copies)] // of the GPU that has the row
		right := mine[1-side]
		row, gradient := mine[side][i*k.Dim:][:k.Dim], make([]float32, k.Dim)
		pair := func(target uint32, isPositive bool, weight float64) {
			other := right[int(target)*k.Dim:][:k.Dim]
			score := dot(row, other)
			if k.device.Parts > 0 && !k.SplitsRows() {
				score = float64(splitDot(row, other, k.device.Parts))
			}
			g := sigmoid(score)
			if isPositive {
				g--
			}
			loss += weight * lossOf(score, isPositive)
			for j, x := range other {
				gradient[j] += float32(weight * g / float64(len(positives)) * float64(x))
			}
		}
		if positives[0] != wordcontext.NoContext {
			for _, positive := range positives {
				pair(positive, true, 1)
			}
			first, negatives, weight := i*k.Negatives, k.Negatives, float64(len(positives))
			if k.SharedNegatives > 0 {
				negatives = k.SharedNegatives
				weight *= float64(k.Negatives) / float64(negatives)
			}
			for n := range negatives {
				if k.SharedNegatives > 0 {
					pair(shared[n], false, weight)
					continue
				}
				pair(draw(k.Alias, randomBits(k.Seed, stream, uint64(first+n))), false, weight)
			}
		}
		if composed {
			copy(gradients[i*k.Dim:], gradient)
		} else {
			k.optimizers[side].UpdateMean(i, k.updates(i, iteration), len(positives), row, gradient)
			for _, other := range k.copies {
				copy(other[side][i*k.Dim:][:k.Dim], row)
			}
		}
	}
	if composed {
		k.encoder.train(gradients, iteration+1, rate, func(word int) (share, updates int) {
			if shares == nil {
				return -1, 0
			}
			return shares[word], k.updates(word, iteration)
		})
	}
	return loss, count
}
