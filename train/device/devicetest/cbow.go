package devicetest

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// NewCBOW returns kernels of large-batch CBOW.
func (d *Device) NewCBOW(c cl.CBOWOptions) (device.CBOWKernels, error) {
	cpu, err := newStretches(c)
	if err == nil {
		err = d.Fail
	}
	if err != nil {
		return nil, err
	}
	d.Open++
	k := &cbowKernels{memory: newMemory(d, cpu.State()), CBOWOptions: c, cpu: cpu, buffers: make([]cl.Stretch, c.Buffers), losses: make([]*float64, c.Buffers)}
	for i := range k.buffers {
		k.spoil(i)
	}
	return k, nil
}

// newStretches returns a trainer for stretches that come from elsewhere: its own text is two words.
func newStretches(c cl.CBOWOptions) (*graph.CBOW, error) {
	counts := make([]uint64, c.Rows)
	counts[0] = 2
	words, err := vocabularyOf(counts)
	if err != nil {
		return nil, err
	}
	text := &corpus.Corpus{Vocabulary: words, Tokens: make([]uint32, 2), Sentences: []int{0, 2}}
	s, err := wordcontext.NewStretches(text, wordcontext.StretchOptions{Words: c.Places, Window: c.Window, Shared: c.SharedNegatives})
	if err != nil {
		return nil, err
	}
	o := graph.Options{
		Dim: c.Dim, Negatives: c.Negatives, SharedNegatives: c.SharedNegatives, Threads: 1,
		Optimizer: optim.Options{Method: optim.Method(c.Method), Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay},
	}
	if x := c.Composition; x != nil {
		o.Composition = x.Empty()
	}
	if c.PositionRate > 0 {
		o.Positions = 2 * c.Window
	}
	return graph.NewCBOW(s, math.MaxInt32, o)
}

type cbowKernels struct {
	memory
	cl.CBOWOptions
	cpu     *graph.CBOW
	buffers []cl.Stretch
	losses  []*float64 // of the iterations under way
}

func (k *cbowKernels) Close() error { k.device.Open--; return k.cpu.Close() }

func (k *cbowKernels) Stretch(buffer int) *cl.Stretch { return &k.buffers[buffer] }

// Start computes at once.
func (k *cbowKernels) Start(buffer, iteration int, rate float64) error {
	s := &k.buffers[buffer]
	if k.losses[buffer] != nil || len(s.Words) == 0 {
		return fmt.Errorf("buffer %d started with %d places", buffer, len(s.Words))
	}
	x := &wordcontext.Stretch{
		Words: s.Words, From: s.From, To: s.To, Rows: s.Rows, Slots: s.Slots, Places: s.Places, Window: k.Window,
		NegativePlaces: s.NegativePlaces, NegativeWords: s.NegativeWords,
	}
	report, err := k.cpu.Train(x, iteration, rate)
	if err != nil {
		return err
	}
	k.losses[buffer] = &report.Loss
	return k.device.launch(1, &report.Loss)
}

// Wait spoils the stretch: nobody may count on it.
func (k *cbowKernels) Wait(buffer int) (float64, error) {
	loss := k.losses[buffer]
	if loss == nil {
		return 0, fmt.Errorf("waited for buffer %d, which was not started", buffer)
	}
	k.losses[buffer] = nil
	k.spoil(buffer)
	return *loss, k.device.Fail
}

// spoil gives a buffer new memory without values, for the most places there may be and no more.
func (k *cbowKernels) spoil(buffer int) {
	t, most, h := k.Places, min(k.Rows, k.Places), k.SharedNegatives
	of := func(n int) []uint32 { return make([]uint32, 0, n) }
	k.buffers[buffer] = cl.Stretch{
		Words: of(t), From: of(t), To: of(t), Places: of(t), Rows: of(most), Slots: of(most + 1),
		NegativePlaces: of(h), NegativeWords: of(h),
	}
}
