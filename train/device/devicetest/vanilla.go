package devicetest

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device"
)

// NewVanilla returns kernels of W2V-Vanilla.
func (d *Device) NewVanilla(c vanilla.Options) (device.VanillaKernels, error) {
	cpu, err := newMinibatches(c)
	if c.Encoder != nil {
		err = errors.New("this device has no encoders for minibatches")
	}
	if err == nil {
		err = d.Fail
	}
	if err != nil {
		return nil, err
	}
	d.Open++
	return &vanillaKernels{memory: newMemory(d, cpu.State()), Options: c, cpu: cpu}, nil
}

// newMinibatches returns a trainer for minibatches that come from elsewhere: its own text is two words.
func newMinibatches(c vanilla.Options) (*graph.Vanilla, error) {
	words, err := vocabularyOf(make([]uint64, c.Rows))
	if err != nil {
		return nil, err
	}
	noise, err := corpus.NewAlias(append(make([]float64, c.Rows-1), 1))
	if err != nil {
		return nil, err
	}
	text := &corpus.Corpus{Vocabulary: words, Tokens: make([]uint32, 2), Sentences: []int{0, 2}}
	return graph.NewVanilla(text, noise, graph.VanillaOptions{Window: 1, Batch: c.Batch, Epochs: 1, Dense: c.Dense}, graph.Options{
		Dim: c.Dim, Negatives: c.Negatives, Threads: 1,
		Optimizer: optim.Options{Method: optim.Method(c.Method), Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay},
	})
}

type vanillaKernels struct {
	memory
	vanilla.Options
	cpu    *graph.Vanilla
	losses [2]float64 // of the units under way
}

func (k *vanillaKernels) Close() error { k.device.Open--; return k.cpu.Close() }

func (k *vanillaKernels) Start(buffer int, u *vanilla.Unit, first int, rate float64) error {
	k.losses[buffer] = 0
	k.cpu.SetTrained(first - 1)
	for i := range u.Minibatches() {
		lefts, contexts := u.Minibatch(i)
		var words []uint32
		for e := range contexts {
			words = append(words, lefts[e/(1+k.Negatives)])
		}
		loss, err := k.cpu.Minibatch(words, contexts, rate)
		if err != nil {
			return fmt.Errorf("minibatch %d: %w", first+i, err)
		}
		k.losses[buffer] += loss
	}
	return k.device.launch(u.Minibatches(), &k.losses[buffer])
}

func (k *vanillaKernels) Wait(buffer int) (float64, error) { return k.losses[buffer], k.device.Fail }
