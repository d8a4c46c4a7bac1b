// Package devicetest has a device that is none: it computes on the CPU, pair by
// pair, what kernels compute, for tests of what is above the seam. It shares no
// code with the trainers of the CPU.
package devicetest

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Device computes on the CPU. The zero value has no memory.
type Device struct {
	Free, Total int64 // bytes of memory that it says it has
	Fail        error // of all kernels from now on
	NotANumber  bool  // losses are, from now on

	Launches   []int // units of each
	Open       int   // devices and kernels that were not closed
	TextTokens int   // of the last FULL-W2V's configuration
}

// New returns a device in use, with room for anything.
func New() *Device { return &Device{Free: 1 << 40, Total: 1 << 40, Open: 1} }

// Name returns a name.
func (d *Device) Name() string { return "Test GPU" }

// Memory returns what the fields say.
func (d *Device) Memory() (free, total int64, err error) { return d.Free, d.Total, d.Fail }

// Peak returns a number.
func (d *Device) Peak() int64 { return 12345678 }

// Copy returns a number.
func (d *Device) Copy(int64) (perSecond float64, err error) { return 4e12, d.Fail }

// Close closes the device. Nothing that was made on it may be open then.
func (d *Device) Close() error {
	d.Open--
	if d.Open != 0 {
		return fmt.Errorf("closed the device before %d kernels", d.Open)
	}
	return nil
}

func (d *Device) launch(n int, loss *float64) error {
	d.Launches = append(d.Launches, n)
	if d.NotANumber {
		*loss = math.NaN()
	}
	return d.Fail
}

// words returns random word i of a stream.
func word(seed uint64, stream corpus.Stream, i uint64) uint32 {
	return corpus.Philox(seed, stream, i/4)[i%4]
}

// draw draws from an alias table as the kernels do.
func draw(alias []uint32, random uint32) uint32 {
	column, low := bits.Mul32(random, uint32(len(alias)/2))
	if low < alias[2*column] {
		return column
	}
	return alias[2*column+1]
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// lossOf is that of a pair of a score: softplus of it for a negative, of its
// opposite for a positive.
func lossOf(score float64, positive bool) float64 {
	if positive {
		score = -score
	}
	return math.Log1p(math.Exp(score))
}

// NewCL returns kernels of W2V-CL.
func (d *Device) NewCL(c device.CLConfig) (device.CLKernels, error) {
	k := &cl{device: d, CLConfig: c}
	if c.Encoder != nil {
		var err error
		if k.encoder, err = newEncoder(*c.Encoder, c.Rows, c.Dim, c.Optimizer); err != nil {
			return nil, err
		}
		k.state = k.encoder.state()
	}
	for side, name := range []string{"words", "contexts"} {
		k.tables[side] = make([]float32, c.Rows*c.Dim)
		if side == 0 && k.encoder != nil {
			continue
		}
		o, err := optim.New(c.Optimizer, c.Rows, c.Dim)
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
		k.columns[i] = make([]uint32, 2*block*c.Rows)
	}
	d.Open++
	return k, d.Fail
}

type cl struct {
	device *Device
	device.CLConfig
	encoder    *encoder // nil: words are a table
	tables     [2][]float32
	optimizers [2]optim.Optimizer
	state      []trainer.Tensor
	columns    [2][]uint32
	matrix     *wordcontext.Matrix // or nil
	losses     [2][]float64        // of what is under way
}

func (k *cl) Close() error { k.device.Open--; return nil }

func (k *cl) tensor(name string, values []float32) ([]float32, error) {
	for _, t := range k.state {
		if t.Name == name && len(t.Data) == len(values) {
			return t.Data, k.device.Fail
		}
	}
	return nil, fmt.Errorf("no tensor %s of %d values", name, len(values))
}

func (k *cl) Send(name string, values []float32) error {
	t, err := k.tensor(name, values)
	copy(t, values)
	return err
}

func (k *cl) Receive(name string, values []float32) error {
	t, err := k.tensor(name, values)
	copy(values, t)
	return err
}

// block is smaller than that of kernels, to have many.
const block = 5

func (k *cl) Block() int { return block }

func (k *cl) Columns(buffer int) ([]uint32, error) { return k.columns[buffer], k.device.Fail }

func (k *cl) SetMatrix(m *wordcontext.Matrix) error { k.matrix = m; return k.device.Fail }

// Start computes at once, but with what the columns are then.
func (k *cl) Start(buffer, first int, rates []float64) error {
	if k.losses[buffer] != nil || len(rates) < 1 || len(rates) > block {
		return fmt.Errorf("buffer %d started for %d iterations while %d are under way", buffer, len(rates), len(k.losses[buffer]))
	}
	losses := make([]float64, len(rates))
	for i, rate := range rates {
		for side := range 2 {
			column := k.columns[buffer][(side*block+i)*k.Rows:][:k.Rows]
			if k.matrix != nil {
				l := k.matrix.Contexts()
				for row := range column {
					column[row] = k.matrix.At(row, (first+i+side*l/2)%l)
				}
			}
			losses[i] += k.half(first+i, side, column, rate)
		}
	}
	k.losses[buffer] = losses
	return k.device.launch(len(rates), &losses[0])
}

// Wait spoils the columns: nobody may count on them.
func (k *cl) Wait(buffer int) ([]float64, error) {
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

// half is a half step; see cl.cu.
func (k *cl) half(number, side int, column []uint32, rate float64) (loss float64) {
	left, right := k.tables[side], slices.Clone(k.tables[1-side])
	composed := side == 0 && k.encoder != nil
	var gradients []float32
	if composed {
		k.encoder.compose(left)
	} else {
		k.optimizers[side].Begin(number+1, rate)
	}
	stream := corpus.StreamNegatives.Sub(uint32(2*number + side))
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
				pair(draw(k.Alias, word(k.Seed, stream, uint64(i*k.Negatives+n))), false)
			}
		}
		if gradients = append(gradients, gradient...); !composed {
			k.optimizers[side].UpdateRow(i, row, gradient)
		}
	}
	if composed {
		k.encoder.train(gradients, number+1, rate)
	}
	return loss
}

// NewFullW2V returns kernels of FULL-W2V, with one sentence in flight.
func (d *Device) NewFullW2V(c device.FullW2VConfig) (device.FullW2VKernels, error) {
	d.Open++
	d.TextTokens = c.TextTokens
	return &fullW2V{
		device: d, FullW2VConfig: c,
		words: make([]float32, c.Vocabulary*c.Dim), contexts: make([]float32, c.Vocabulary*c.Dim),
	}, d.Fail
}

type fullW2V struct {
	device *Device
	device.FullW2VConfig
	words, contexts []float32
}

func (k *fullW2V) Close() error { k.device.Open--; return nil }

func (k *fullW2V) SetTables(words, contexts []float32) error {
	copy(k.words, words)
	copy(k.contexts, contexts)
	return k.device.Fail
}

func (k *fullW2V) Tables(words, contexts []float32) error {
	copy(words, k.words)
	copy(contexts, k.contexts)
	return k.device.Fail
}

func (k *fullW2V) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	units := len(k.Units) - 1
	losses, pairs = make([]float64, len(rates)), make([]float64, len(rates))
	for i, rate := range rates {
		epoch, unit := (first+i)/units, (first+i)%units
		for n := k.Units[unit]; n < k.Units[unit+1]; n++ {
			l, p := k.sentence(uint32(epoch), n, float64(rate))
			losses[i], pairs[i] = losses[i]+l, pairs[i]+p
		}
	}
	return losses, pairs, k.device.launch(len(rates), &losses[0])
}

// sentence trains a sentence; see fullw2v.cu.
func (k *fullW2V) sentence(epoch uint32, number int, rate float64) (loss, pairs float64) {
	first := k.Sentences[number]
	var words []uint32
	for i := first; i < k.Sentences[number+1]; i++ {
		if w := k.Tokens[i]; word(k.Seed, corpus.StreamSubsample.Sub(epoch), uint64(i)) <= k.Keep[w] {
			words = append(words, w)
		}
	}
	perWindow := (k.Negatives + 3) / 4 * 4
	for t, target := range words {
		outputs := []uint32{target}
		for n := range k.Negatives {
			j := uint64((first+t)*perWindow + n)
			drawn := draw(k.Alias, word(k.Seed, corpus.StreamNegatives.Sub(epoch), j))
			for a := uint64(0); drawn == target; a++ {
				drawn = draw(k.Alias, corpus.Philox(k.Seed, corpus.StreamRedraws.Sub(epoch), j|a/4<<56)[a%4])
			}
			outputs = append(outputs, drawn)
		}
		oldWords, oldContexts := slices.Clone(k.words), slices.Clone(k.contexts)
		for i := max(0, t-k.Half); i <= min(t+k.Half, len(words)-1); i++ {
			if i == t {
				continue
			}
			for n, output := range outputs {
				in, out := int(words[i])*k.Dim, int(output)*k.Dim
				score := dot(oldWords[in:][:k.Dim], oldContexts[out:][:k.Dim])
				g := -sigmoid(score)
				if n == 0 {
					g++
				}
				loss, pairs = loss+lossOf(score, n == 0), pairs+1
				for j := range k.Dim {
					k.words[in+j] += float32(rate * g * float64(oldContexts[out+j]))
					k.contexts[out+j] += float32(rate * g * float64(oldWords[in+j]))
				}
			}
		}
	}
	return loss, pairs
}
