//go:build gpu

package device

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
)

type cudaGroup struct{ devices []*cuda.Device }

// openGroup opens several GPUs at the same time and connects them: by their memory, or else by NCCL.
func openGroup(ordinals []int) (Device, error) {
	g := cudaGroup{make([]*cuda.Device, len(ordinals))}
	err := g.each(func(i int) (err error) {
		g.devices[i], err = cuda.Open(ordinals[i])
		return err
	})
	if err == nil {
		err = cuda.Connect(g.devices)
	}
	if errors.Is(err, cuda.ErrNoPeer) {
		var all []Device
		for _, d := range g.devices {
			all = append(all, cudaDevice{d})
		}
		return newByMessages(all)
	}
	if err != nil {
		return nil, errors.Join(translate(err), g.Close())
	}
	return g, nil
}

// each calls f for every GPU at the same time and returns the error of the first that failed.
func (g cudaGroup) each(f func(i int) error) error {
	return cmp.Or(cuda.Together(len(g.devices), f)...)
}

func (g cudaGroup) Name() string { return fmt.Sprintf("%d x %s", len(g.devices), g.devices[0].Name) }

func (g cudaGroup) GPUs() int { return len(g.devices) }

func (cudaGroup) ByMessages() bool { return false }

func (g cudaGroup) Memory() (free, total int64, err error) { return leastFree(g.devices) }

func (g cudaGroup) Occupied() (most int64) {
	for _, d := range g.devices {
		most = max(most, d.Occupied())
	}
	return most
}

func (g cudaGroup) Peak() int64 { return mostAtPeak(g.devices) }

func (g cudaGroup) NewCL(c cl.Options, e *encoder.Structure) (CLKernels, error) {
	if e != nil {
		return encoder.NewGroup(g.devices, c, *e)
	}
	return cl.NewGroup(g.devices, c)
}

func (g cudaGroup) NewSentence(c sentence.Options) (SentenceKernels, error) {
	return sentence.NewGroup(g.devices, c)
}

func (g cudaGroup) NewComposed(sentence.Options, *composed.Composition) (ComposedKernels, error) {
	return nil, errOneGPU
}

func (g cudaGroup) NewVanilla(vanilla.Options) (VanillaKernels, error) { return nil, errOneGPU }

func (g cudaGroup) NewCBOW(cl.CBOWOptions) (CBOWKernels, error) {
	return nil, errOneGPU
}

func (g cudaGroup) Close() error {
	return g.each(func(i int) error {
		if g.devices[i] == nil { // it was not opened
			return nil
		}
		return g.devices[i].Close()
	})
}
