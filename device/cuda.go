//go:build gpu

package device

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Built reports whether the kernels are built in.
const Built = true

// Open takes the device that is named cuda or cuda:N into use. On a machine
// without a GPU the error is ErrNone, wrapped.
func Open(name string) (Device, error) {
	ordinal, err := Ordinal(name)
	if err != nil {
		return nil, err
	}
	d, err := cuda.Open(ordinal)
	if err != nil {
		return nil, translate(err)
	}
	return cudaDevice{d}, nil
}

// List returns the devices of the machine and the version of CUDA that their
// driver has.
func List() (devices []Info, driver string, err error) {
	all, driver, err := cuda.List()
	for i, d := range all {
		devices = append(devices, Info{
			Ordinal: i, Name: d.Name, Memory: d.Memory, Usable: d.Usable(),
			Capability: fmt.Sprintf("%d.%d", d.Capability[0], d.Capability[1]),
		})
	}
	return devices, driver, translate(err)
}

// noDevice is ErrNone that keeps the words of cuda.ErrNoDevice.
type noDevice struct{ error }

func (noDevice) Is(target error) bool { return target == ErrNone }

func translate(err error) error {
	if errors.Is(err, cuda.ErrNoDevice) {
		return noDevice{err}
	}
	return err
}

// A cudaDevice is cuda.Device as a Device.
type cudaDevice struct{ *cuda.Device }

func (d cudaDevice) Name() string { return d.Device.Name }

func (d cudaDevice) NewCL(c CLConfig) (CLKernels, error) {
	o := c.Optimizer.WithDefaults()
	k, err := d.Device.NewCL(cuda.CLConfig{
		Rows: c.Rows, Dim: c.Dim, Negatives: c.Negatives, Seed: c.Seed, Alias: c.Alias,
		Method: string(o.Method), Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
	})
	if err != nil {
		return nil, err
	}
	return cudaCL{k}, nil
}

type cudaCL struct{ *cuda.CL }

func (k cudaCL) SetMatrix(m *wordcontext.Matrix) error {
	offsets, narrow, wide := m.Layout()
	return k.CL.SetMatrix(cuda.CLMatrix{
		Offsets: offsets, Narrow: narrow, Wide: wide, Contexts: m.Contexts(), Seed: m.Options().Seed,
	})
}

func (d cudaDevice) NewFullW2V(c FullW2VConfig) (FullW2VKernels, error) {
	rates := make([][]float32, c.Epochs)
	for i := range rates {
		rates[i] = make([]float32, len(c.Units)-1)
	}
	k, err := d.Device.NewFullW2V(cuda.FullW2VConfig{
		Vocabulary: c.Vocabulary, Dim: c.Dim, Negatives: c.Negatives, Half: c.Half, Seed: c.Seed,
		Alias: c.Alias, Keep: c.Keep, Tokens: c.Tokens, Sentences: c.Sentences, Units: c.Units, Rates: rates,
		HalfPrecision: c.Precision == Half,
	})
	if err != nil {
		return nil, err
	}
	t := &cudaFullW2V{FullW2V: k, units: c.Units}
	for u, first := range c.Units[:len(c.Units)-1] {
		t.words = append(t.words, c.Sentences[c.Units[u+1]]-c.Sentences[first])
	}
	return t, nil
}

type cudaFullW2V struct {
	*cuda.FullW2V
	units []int // first sentence of each unit of an epoch, and the end
	words []int // of each unit
}

// Train trains units. The kernel sums over all of them, so they share loss and
// pairs by their words.
func (t *cudaFullW2V) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	if err := t.SetRates(first, rates); err != nil {
		return nil, nil, err
	}
	loss, count, err := t.FullW2V.Train(t.sentence(first), t.sentence(first+len(rates)))
	if err != nil {
		return nil, nil, err
	}
	all := 0.0
	for i := range rates {
		all += float64(t.words[(first+i)%len(t.words)])
	}
	for i := range rates {
		share := float64(t.words[(first+i)%len(t.words)]) / all
		losses, pairs = append(losses, loss*share), append(pairs, float64(count)*share)
	}
	return losses, pairs, nil
}

// sentence returns the number of a unit's first sentence, counted over the
// epochs.
func (t *cudaFullW2V) sentence(unit int) int {
	perEpoch := len(t.words)
	return unit/perEpoch*t.units[perEpoch] + t.units[unit%perEpoch]
}

// Close has nothing to free that the device does not.
func (*cudaFullW2V) Close() error { return nil }
