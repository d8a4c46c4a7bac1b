//go:build gpu

package device

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
)

// Built reports whether the kernels are built in. It is a variable for tests.
var Built = cuda.HasKernels()

// open takes the device into use that Ordinals knows by its name, or the devices. On a machine
// without a GPU the error is ErrNone, wrapped.
func open(name string) (Device, error) {
	if !Built {
		return nil, ErrNotBuilt
	}
	ordinals, err := Ordinals(name)
	if err != nil {
		return nil, err
	}
	if len(ordinals) > 1 {
		return openGroup(ordinals)
	}
	d, err := cuda.Open(ordinals[0])
	if err != nil {
		return nil, translate(err)
	}
	return cudaDevice{d}, nil
}

// List returns the devices of the machine and the version of CUDA that their
// driver has.
func List() (devices []Info, driver string, err error) {
	all, driver, err := cuda.List()
	if err != nil {
		return nil, driver, translate(err)
	}
	reaches, err := cuda.Reaches()
	for i, d := range all {
		peers := []int{}
		for j := range all {
			if err == nil && i != j && reaches[i][j] {
				peers = append(peers, j)
			}
		}
		devices = append(devices, Info{
			Ordinal: i, Name: d.Name, Memory: d.Memory, Usable: d.Usable(), Peers: peers,
			Capability: fmt.Sprintf("%d.%d", d.Capability[0], d.Capability[1]),
		})
	}
	return devices, driver, translate(err)
}

// noDeviceError is ErrNone that keeps the words of cuda.ErrNoDevice.
type noDeviceError struct{ error }

func (noDeviceError) Is(target error) bool { return target == ErrNone }

func translate(err error) error {
	if errors.Is(err, cuda.ErrNoDevice) {
		return noDeviceError{err}
	}
	return err
}

type cudaDevice struct{ *cuda.Device }

func (d cudaDevice) Name() string { return d.Device.Name }

func (d cudaDevice) GPUs() int { return 1 }

func (cudaDevice) ByMessages() bool { return false }

func (d cudaDevice) NewCL(c cl.Options, e *encoder.Structure) (CLKernels, error) {
	switch {
	case c.Composition != nil:
		return encoder.NewParts(d.Device, c)
	case e != nil:
		return encoder.New(d.Device, c, *e)
	default:
		return cl.New(d.Device, c)
	}
}

func (d cudaDevice) NewSentence(c sentence.Options) (SentenceKernels, error) {
	return sentence.New(d.Device, c)
}

func (d cudaDevice) NewComposed(c sentence.Options, x *composed.Composition) (ComposedKernels, error) {
	return sentence.NewComposed(d.Device, c, x)
}

func (d cudaDevice) NewVanilla(c vanilla.Options) (VanillaKernels, error) {
	return vanilla.New(d.Device, c)
}

func (d cudaDevice) NewCBOW(c cl.CBOWOptions) (CBOWKernels, error) { return cl.NewCBOW(d.Device, c) }

// memoryCBOW returns the bytes that NewCBOW takes of the GPU's memory, and of the host's.
func memoryCBOW(c cl.CBOWOptions) (device, host int64, err error) { return c.Memory() }
