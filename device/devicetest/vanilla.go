package devicetest

import (
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/trainer"
)

// NewVanilla returns kernels of W2V-Vanilla.
func (d *Device) NewVanilla(c vanilla.Config) (device.VanillaKernels, error) {
	k := &vanillaKernels{memory: memory{device: d}, Config: c}
	for side, name := range []string{"words", "contexts"} {
		k.tables[side] = make([]float32, c.Rows*c.Dim)
		o, err := optim.New(optim.Config{Method: optim.Method(c.Method), Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay}, c.Rows, c.Dim)
		if err != nil {
			return nil, err
		}
		k.optimizers[side] = o
		k.state = append(k.state, trainer.Tensor{Name: name, Data: k.tables[side]})
		for _, t := range o.State() {
			k.state = append(k.state, trainer.Tensor{Name: name + "." + t.Name, Data: t.Data})
		}
	}
	d.Open++
	return k, d.Fail
}

type vanillaKernels struct {
	memory
	vanilla.Config
	tables     [2][]float32
	optimizers [2]optimizer
	losses     [2]float64 // of the units under way
}

func (k *vanillaKernels) Close() error { k.device.Open--; return nil }

func (k *vanillaKernels) Start(buffer int, u *vanilla.Unit, first int, rate float64) error {
	k.losses[buffer] = 0
	for i := range u.Minibatches() {
		lefts, contexts := u.Minibatch(i)
		k.losses[buffer] += k.minibatch(lefts, contexts, first+i, rate)
	}
	return k.device.launch(u.Minibatches(), &k.losses[buffer])
}

func (k *vanillaKernels) Wait(buffer int) (float64, error) { return k.losses[buffer], k.device.Fail }

// minibatch trains a minibatch, pair by pair; see vanilla.cu.
func (k *vanillaKernels) minibatch(lefts, contexts []uint32, step int, rate float64) (loss float64) {
	n, width := k.Dim, 1+k.Negatives
	var gradients [2]map[uint32][]float32
	for side := range gradients {
		gradients[side] = map[uint32][]float32{}
		k.optimizers[side].Begin(step, rate)
	}
	add := func(side int, row uint32, c float64, other []float32) {
		g := gradients[side][row]
		if g == nil {
			g = make([]float32, n)
			gradients[side][row] = g
		}
		for j, x := range other {
			g[j] += float32(c * float64(x))
		}
	}
	for e, context := range contexts {
		word := lefts[e/width]
		w, c := k.tables[0][int(word)*n:][:n], k.tables[1][int(context)*n:][:n]
		score := dot(w, c)
		g := sigmoid(score)
		if e%width == 0 {
			g--
		}
		loss += lossOf(score, e%width == 0)
		add(0, word, g, c)
		add(1, context, g, w)
	}
	for side, table := range k.tables {
		for row := range uint32(k.Rows) {
			g := gradients[side][row]
			if g == nil && k.Dense {
				g = make([]float32, n)
			}
			if g != nil {
				k.optimizers[side].UpdateRow(int(row), table[int(row)*n:][:n], g)
			}
		}
	}
	return loss
}
