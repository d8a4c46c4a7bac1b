//go:build gpu

package subword

import (
	"errors"
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// A Group trains on several devices as Kernels do on one: the same parameters, to the bit. Each device has the whole network. It
// composes and trains its rows of W, and sums their gradients of the network: the devices share these sums, and each updates its
// network by all of them.
type Group struct {
	*cl.Group
	parts []*Kernels
}

// NewGroup takes the memory of 2, 4 or 8 devices for training a CNN. All parameters and the contexts are zero. The devices must be
// connected (cuda.Connect) and of one kind.
func NewGroup(devices []*cuda.Device, c cl.Options, e Structure) (*Group, error) {
	if err := e.check(c.Rows); err != nil {
		return nil, err
	}
	if c.Rows < len(devices) {
		return nil, fmt.Errorf("%d words are too few for %d devices", c.Rows, len(devices))
	}
	steps, err := cl.NewComposedGroup(devices, c)
	if err != nil {
		return nil, err
	}
	g := &Group{Group: steps}
	for i, part := range steps.Parts() {
		k, err := newPart(part, devices[i], c, e.Rate, e.Words, func(a *allocator) (encoder, error) { return newCNN(a, c, e) })
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		g.parts = append(g.parts, k)
	}
	return g, nil
}

func (g *Group) each(f func(k *Kernels) error) error {
	return errors.Join(cuda.Together(len(g.parts), func(i int) error { return f(g.parts[i]) })...)
}

// Send is that of Kernels.
func (g *Group) Send(name string, values []float32) error {
	return g.each(func(k *Kernels) error { return k.Send(name, values) })
}

// Receive is that of Kernels. Of contexts and words each device has its rows, of the network all.
func (g *Group) Receive(name string, values []float32) error {
	if strings.HasPrefix(name, "contexts") || strings.HasPrefix(name, "words") {
		return g.each(func(k *Kernels) error { return k.Receive(name, values) })
	}
	return g.parts[0].Receive(name, values)
}

// held returns what a device holds of a tensor.
func (k *Kernels) held(values []float32, x tensor) []float32 {
	if x.own {
		return k.OwnRows(values, x.columns)
	}
	return values
}

// every returns the words of one device of several.
func (c Structure) every(number, of int) Structure {
	if of == 1 {
		return c
	}
	var words []uint32
	for v := number; v+1 < len(c.Starts); v += of {
		words = append(words, uint32(v))
	}
	return c.some(words)
}

// some returns some words, which are spelt once.
func (c Structure) some(words []uint32) Structure {
	starts, symbols := c.Starts, c.Symbols
	c.Starts, c.Symbols = []uint32{0}, nil
	for _, v := range words {
		c.Symbols = append(c.Symbols, symbols[starts[v]:starts[v+1]]...)
		c.Starts = append(c.Starts, uint32(len(c.Symbols)))
	}
	return c
}

// share brings the sums of all devices of a group to all: the devices meet there.
func (x *cnn) share(of func(x *cnn) cu.DevicePtr, lines, line int) error {
	if x.args.gpus == 1 {
		return nil
	}
	return x.steps.Share(func(k *cl.Kernels) cu.DevicePtr { return of(k.FirstStep().(*Kernels).encoder.(*cnn)) }, lines, line, true)
}
