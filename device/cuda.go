//go:build gpu

package device

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Built reports whether the kernels are built in. It is a variable for tests.
var Built = true

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
	config := cuda.CLConfig{
		Rows: c.Rows, Dim: c.Dim, Negatives: c.Negatives, Seed: c.Seed, Alias: c.Alias,
		Method: string(o.Method), Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
		HalfPrecision: c.Precision == Half,
	}
	if c.Encoder != nil {
		k, err := d.Device.NewEncodedCL(config, cuda.EncoderConfig(*c.Encoder))
		if err != nil {
			return nil, err
		}
		return cudaCL{k}, nil
	}
	k, err := d.Device.NewCL(config)
	if err != nil {
		return nil, err
	}
	return cudaCL{k}, nil
}

// clKernels is what cuda.CL and cuda.EncodedCL have in common.
type clKernels interface {
	Block() int
	Columns(buffer int) ([]uint32, error)
	SetMatrix(m cuda.CLMatrix) error
	Start(buffer, first int, rates []float64) error
	Wait(buffer int) ([]float64, error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

type cudaCL struct{ clKernels }

func (k cudaCL) SetMatrix(m *wordcontext.Matrix) error {
	offsets, narrow, wide := m.Layout()
	return k.clKernels.SetMatrix(cuda.CLMatrix{
		Offsets: offsets, Narrow: narrow, Wide: wide, Contexts: m.Contexts(), Seed: m.Options().Seed,
	})
}

func (d cudaDevice) NewFullW2V(c FullW2VConfig) (FullW2VKernels, error) {
	return d.Device.NewFullW2V(cuda.FullW2VConfig{
		Vocabulary: c.Vocabulary, Dim: c.Dim, Negatives: c.Negatives, Half: c.Half, Epochs: c.Epochs, Seed: c.Seed,
		Alias: c.Alias, Counts: c.Counts, Keep: c.Keep, Tokens: c.Tokens, Sentences: c.Sentences, Units: c.Units,
		HalfPrecision: c.Precision == Half, TextTokens: c.TextTokens,
	})
}
