//go:build gpu

package subword

import (
	"cmp"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// Batches are a CNN that composes the words of minibatches, for package vanilla. Features are standardized as those of the vocabulary
// were when Standardize was called last.
type Batches struct {
	parameters
	cnn        *cnn
	structure  Structure
	vocabulary cnnArgs

	// Own are words' own vectors, (V, N), a table that the caller updates; without an address if they have none.
	Own cuda.Table
}

// NewBatches takes the memory of a device for the CNN of a vocabulary. All parameters are zero. Dense minibatches, of at most so many
// words, update all rows of parameters, others those that have a gradient.
func NewBatches(d *cuda.Device, o cuda.Optimizer, rows, dim, batch int, dense bool, e Structure) (*Batches, error) {
	if !o.Adaptive {
		return nil, fmt.Errorf("encoders are not trained with optimizer %s", o.Name)
	}
	if err := e.check(rows); err != nil {
		return nil, err
	}
	a := newAllocator(d, o)
	a.batches = true
	x, err := newCNN(a, cl.Options{Rows: rows, Dim: dim}, e)
	if err != nil {
		return nil, err
	}
	for x.units > 1 && float64(x.units)*float64(batch) > 1<<17 { // a frequent word has a sixth of the positives at most: see subword.cuh
		x.units /= 2
	}
	x.args.sparse, x.updates.sparse = number(!dense), number(!dense)
	b := &Batches{parameters: parameters{d, map[string]tensor{}}, cnn: x, structure: e, vocabulary: x.args}
	for name, m := range x.all {
		b.addTensors(name, m)
	}
	if e.Words {
		words := a.matrix("words' own vectors", rows, dim, stride(dim))
		b.addTensors("words", words)
		b.Own = words.table(o)
	}
	return b, a.Err
}

// Gradient returns where the gradient of composed rows goes: float16 numbers, times units, so many from row to row.
func (b *Batches) Gradient() (values cu.DevicePtr, stride uint64, units float32) {
	return b.cnn.ofRows.Values, b.cnn.ofRows.Stride, b.cnn.units
}

// Spell appends what Compose reads of some words.
func (b *Batches) Spell(words, lists, symbols []uint32) (ofLists, ofSymbols []uint32) {
	e := b.structure.some(words)
	if b.cnn.args.packed == 0 {
		return append(lists, e.Starts...), append(symbols, e.Symbols...)
	}
	packed, places := e.packed()
	for _, place := range places {
		lists = append(lists, place[:]...)
	}
	return lists, append(symbols, packed...)
}

// Standardize starts to standardize the features of the vocabulary.
func (b *Batches) Standardize() error {
	g := &b.cnn.args
	*g = b.vocabulary
	return cmp.Or(b.cnn.prepare(0, 0, cl.StepMemory{}), b.cnn.launchConvolution())
}

// Compose starts to compose so many words into rows. lists and symbols are what Spell appended for them. If words have own
// vectors, rows hold these before.
func (b *Batches) Compose(lists, symbols cu.DevicePtr, words int, rows cu.DevicePtr) error {
	g, own := &b.cnn.args, cu.DevicePtr(0)
	g.v, g.all, g.fixed = uint32(words), uint32(words), 1
	g.starts, g.symbols, g.places, g.packedWords = lists, symbols, lists, symbols
	if b.Own.Values != 0 {
		own = rows
	}
	return cmp.Or(b.cnn.prepare(0, 0, cl.StepMemory{}), b.cnn.compose(rows, own))
}

// Train starts to train the parameters by the gradient of the rows. step is where the device has the step's numbers.
func (b *Batches) Train(step cu.DevicePtr) error {
	return cmp.Or(b.cnn.gradient(step), b.cnn.update(step))
}

// Send sends a tensor of the state of graph's trainer but of contexts, by its name there.
func (b *Batches) Send(name string, values []float32) error {
	return b.transfer(name, values, func(x tensor) error { return cuda.SendRows(x.at, values, x.columns, x.stride) })
}

// Receive receives one.
func (b *Batches) Receive(name string, values []float32) error {
	return b.transfer(name, values, func(x tensor) error { return cuda.ReceiveRows(values, x.at, x.columns, x.stride) })
}
