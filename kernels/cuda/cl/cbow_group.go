//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A CBOWGroup trains large-batch CBOW on several devices as CBOW does on one: the same tables, to the bit. Each device has some
// columns of W, or of all that composes W. It computes the gradients and updates of these columns, and composes them for all
// devices. All else needs whole rows, so each device computes all of it: windows, scores and C.
type CBOWGroup struct{ parts []*CBOW }

// A cbowPart is what a device has of a group; nil: it is the only device.
type cbowPart struct {
	number   int
	peers    []*CBOW         // the others
	composed [2]cu.DevicePtr // X of every second iteration: the others write to one while this device reads the other
	told     cu.Event        // this device has composed its columns
}

// NewCBOWGroup takes the memory of 2, 4 or 8 devices for training. All tables are zero. The devices must be connected (cuda.Connect)
// and of one kind.
func NewCBOWGroup(devices []*cuda.Device, c CBOWOptions) (*CBOWGroup, error) {
	method, _ := cuda.FindMethod(c.Method) // newCBOWPart refuses one that is unknown
	switch {
	case !slices.Contains([]int{2, 4, MaxDevices}, len(devices)):
		return nil, fmt.Errorf("%d devices; there may be 2, 4 or %d", len(devices), MaxDevices)
	case method.SecondOfRow:
		return nil, fmt.Errorf("optimizer %s needs whole rows, which several devices divide", c.Method)
	}
	g := &CBOWGroup{}
	for i, d := range devices {
		err := sameKind(devices[0], d)
		if err == nil {
			err = g.add(d, c, i, len(devices))
		}
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	for i, k := range g.parts {
		k.group.peers = slices.Concat(g.parts[:i], g.parts[i+1:])
	}
	return g, nil
}

func (g *CBOWGroup) add(d *cuda.Device, c CBOWOptions, number, of int) error {
	p := &cbowPart{number: number}
	if err := d.Do(func() (err error) { p.told, err = cu.MakeEvent(cu.DisableTiming); return err }); err != nil {
		return err
	}
	k, err := newCBOWPart(&cuda.Allocator{Device: d}, c, p, columnsOf(number, of, c.Dim))
	if err == nil {
		g.parts = append(g.parts, k)
	}
	return err
}

// reads reports whether stretches are read into memory of this device: of a group it is the first.
func (p *cbowPart) reads() bool { return p == nil || p.number == 0 }

// exchange sets where an iteration has X, and where the others have it.
func (p *cbowPart) exchange(iteration int, a *stretchArgs, parts *partsArgs) {
	if p == nil {
		return
	}
	at := iteration % 2
	a.composed, parts.others = p.composed[at], uint32(len(p.peers))
	for i, peer := range p.peers {
		parts.copies[i] = peer.group.composed[at]
	}
}

// tell marks in a stream that the device has composed its columns.
func (p *cbowPart) tell(s cu.Stream) error {
	if p == nil {
		return nil
	}
	return p.told.Record(s)
}

// wait has a stream wait for the columns of the others. So none is more than an iteration ahead.
func (p *cbowPart) wait(s cu.Stream) (err error) {
	if p == nil {
		return nil
	}
	for _, peer := range p.peers {
		err = errors.Join(err, s.Wait(peer.group.told, 0))
	}
	return err
}

// each calls f for all parts at the same time.
func (g *CBOWGroup) each(f func(k *CBOW) error) error {
	return errors.Join(cuda.Together(len(g.parts), func(i int) error { return f(g.parts[i]) })...)
}

// Stretch is that of CBOW.
func (g *CBOWGroup) Stretch(buffer int) *Stretch { return g.parts[0].Stretch(buffer) }

// Start is that of CBOW.
func (g *CBOWGroup) Start(buffer, iteration int, rate float64) error {
	for _, k := range g.parts[1:] {
		k.buffers[buffer].stretch = g.parts[0].buffers[buffer].stretch
	}
	err := g.each(func(k *CBOW) error {
		b := &k.buffers[buffer]
		b.iteration = iteration
		return k.failed(b, k.device.Do(func() error { return k.begin(b, rate) }))
	})
	if err != nil {
		return err
	}
	return g.each(func(k *CBOW) error { // all have begun before one waits for the others
		b := &k.buffers[buffer]
		return k.failed(b, k.device.Do(func() error { return k.finish(b) }))
	})
}

// Wait is that of CBOW. All devices have the same losses.
func (g *CBOWGroup) Wait(buffer int) (loss float64, err error) {
	losses := make([]float64, len(g.parts))
	err = g.each(func(k *CBOW) (err error) { losses[k.group.number], err = k.Wait(buffer); return err })
	return losses[0], err
}

// Send is that of CBOW.
func (g *CBOWGroup) Send(name string, values []float32) error {
	return g.each(func(k *CBOW) error { return k.Send(name, values) })
}

// Receive is that of CBOW. What all devices have comes from the first.
func (g *CBOWGroup) Receive(name string, values []float32) error {
	return g.each(func(k *CBOW) error {
		if k.group.number > 0 && k.tensors[name].common {
			return nil
		}
		return k.Receive(name, values)
	})
}

// Close frees the memory that closing the devices does not free.
func (g *CBOWGroup) Close() error {
	idle := g.each(func(k *CBOW) error {
		return k.device.Do(k.synchronize)
	})
	return errors.Join(idle, g.each(func(k *CBOW) error {
		return errors.Join(k.Close(), k.device.Do(func() error { return cu.DestroyEvent(&k.group.told) }))
	}))
}
