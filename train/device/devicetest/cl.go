package devicetest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// clKernels have a graph.CL do the work, which gets its samples from M itself. Those that the
// host brings must be the same.
type clKernels struct {
	memory
	cl.Options
	structure *kernels.Structure // of an encoder, or nil
	noise     *corpus.Alias
	cpu       *graph.CL           // nil until it has M
	matrix    *wordcontext.Matrix // of the trainer
	onDevice  bool                // M is: nobody brings samples
	buffers   [2][]uint32         // of samples
	losses    [2][]float64        // of the iterations under way
	counts    [2][]float64        // of their samples
}

// seriesLength is less than that of kernels, to have many series.
const seriesLength = 5

// NewCL returns kernels of W2V-CL.
func (d *Device) NewCL(c cl.Options, e *kernels.Structure) (device.CLKernels, error) {
	k, err := d.newCL(c, e)
	if err != nil {
		return nil, err
	}
	return k, d.Fail
}

func (d *Device) newCL(c cl.Options, e *kernels.Structure) (*clKernels, error) {
	noise, err := noiseOf(c.Alias)
	if err == nil {
		err = d.Fail
	}
	if err != nil {
		return nil, err
	}
	d.Open++
	return &clKernels{memory: memory{device: d}, Options: c, structure: e, noise: noise}, nil
}

func (k *clKernels) Close() error {
	k.device.Open--
	if k.cpu == nil {
		return nil
	}
	return k.cpu.Close()
}

func (k *clKernels) SeriesLength() int { return seriesLength }

// SetMatrix takes a wordcontext.Matrix.
func (k *clKernels) SetMatrix(m cl.Matrix) error {
	k.onDevice = true
	return k.setMatrix(m.(*wordcontext.Matrix))
}

// Samples needs Matrix of the device.
func (k *clKernels) Samples(buffer int) ([]uint32, error) {
	if k.cpu == nil {
		if err := k.setMatrix(k.device.Matrix); err != nil {
			return nil, err
		}
	}
	k.buffers[buffer] = make([]uint32, 2*seriesLength*k.slots())
	return k.buffers[buffer], k.device.Fail
}

func (k *clKernels) slots() int { return int(k.matrix.Slots()[k.Rows]) }

func (k *clKernels) setMatrix(m *wordcontext.Matrix) (err error) {
	if m == nil {
		return fmt.Errorf("the samples come from the host: give the device its Matrix, to compare them with")
	}
	if err := k.checkShares(m); err != nil {
		return err
	}
	c := graph.Options{
		Dim: k.Dim, Negatives: k.Negatives, SharedNegatives: k.SharedNegatives, SameColumn: k.SameColumn, Seed: k.Seed, Threads: 1,
		Optimizer: optim.Options{Method: optim.Method(k.Method), Beta1: k.Beta1, Beta2: k.Beta2, Epsilon: k.Epsilon, WeightDecay: k.WeightDecay},
	}
	if x := k.Composition; x != nil {
		c.Composition = x.Empty()
	}
	if k.structure != nil {
		if c.Encoder, err = subword.OfStructure(*k.structure, k.Dim); err != nil {
			return err
		}
	}
	if k.cpu, err = graph.NewCL(m, k.noise, math.MaxInt32, c); err != nil {
		return err
	}
	k.matrix, k.memory = m, newMemory(k.device, k.cpu.State())
	return k.device.Fail
}

// checkShares compares those that the kernels are told with those of M.
func (k *clKernels) checkShares(m *wordcontext.Matrix) error {
	if !m.Tempered() && k.Shares == nil {
		return nil
	}
	lengths, phases := m.Shares()
	if s := k.Shares; !m.Tempered() || s == nil || s.Contexts != m.Contexts() || !slices.Equal(s.Slots, m.Slots()) ||
		!slices.Equal(s.Lengths, lengths) || !slices.Equal(s.Phases, phases) {
		return fmt.Errorf("the kernels are told of other shares than M has")
	}
	return nil
}

// Start computes at once, but with the samples as they are then.
func (k *clKernels) Start(buffer, first int, rates []float64) error {
	if k.losses[buffer] != nil || len(rates) < 1 || len(rates) > seriesLength {
		return fmt.Errorf("buffer %d started for %d iterations while %d are under way", buffer, len(rates), len(k.losses[buffer]))
	}
	losses, counts := make([]float64, len(rates)), make([]float64, len(rates))
	for i, rate := range rates {
		if err := k.check(buffer, i, first+i); err != nil {
			return err
		}
		r, err := k.cpu.Advance(context.Background(), first+i, rate)
		if err != nil {
			return err
		}
		losses[i], counts[i] = r.Loss, r.Pairs/float64(1+k.Negatives)
	}
	k.losses[buffer], k.counts[buffer] = losses, counts
	return k.device.launch(len(rates), &losses[0])
}

// check compares what the host has for an iteration, which is number i of a buffer, with what the
// trainer will use.
func (k *clKernels) check(buffer, i, iteration int) error {
	size := k.slots()
	want, got := make([]uint32, size), make([]uint32, k.SharedNegatives)
	for step := range 2 {
		if !k.onDevice && (step == 0 || !k.SameColumn) {
			k.matrix.Samples(step, iteration, 1, 0, k.Rows, want)
			if !slices.Equal(k.buffers[buffer][(step*seriesLength+i)*size:][:size], want) {
				return fmt.Errorf("iteration %d, step %d: the samples are not those of M", iteration, step)
			}
		}
		if len(got) > 0 {
			drawn := make([]uint32, len(got))
			k.noise.DrawSpread(drawn, k.Seed, iteration, step)
			k.DrawShared(got, iteration, step)
			if !slices.Equal(got, drawn) {
				return fmt.Errorf("iteration %d, step %d: other shared negatives", iteration, step)
			}
		}
	}
	return nil
}

// Wait spoils the samples: nobody may count on them.
func (k *clKernels) Wait(buffer int) (losses, samples []float64, err error) {
	losses, samples = k.losses[buffer], k.counts[buffer]
	if losses == nil {
		return nil, nil, fmt.Errorf("waited for buffer %d, which was not started", buffer)
	}
	k.losses[buffer] = nil
	for i := range k.buffers[buffer] {
		k.buffers[buffer][i] = math.MaxUint32
	}
	return losses, samples, k.device.Fail
}

// NewCLPart returns kernels that compute all dimensions but give only those that a GPU of several has.
func (d *Device) NewCLPart(c cl.Options, ranks cluster.Comm) (device.CLPart, error) {
	k, err := d.newCL(c, nil)
	if err := cluster.Agree(ranks, err); err != nil {
		return nil, err
	}
	return &clPart{k, ranks}, nil
}

type clPart struct {
	*clKernels
	ranks cluster.Comm
}

// Receive leaves values of other ranks' quads as they are.
func (p *clPart) Receive(name string, values []float32) error {
	whole := make([]float32, len(values))
	err := p.clKernels.Receive(name, whole)
	for i, x := range whole {
		if i%p.Dim/4%p.ranks.Size() == p.ranks.Rank() {
			values[i] = x
		}
	}
	return err
}

func (p *clPart) Abort() {}
