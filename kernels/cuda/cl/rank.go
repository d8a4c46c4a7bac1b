//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A Rank trains some of the dimensions. Other devices, whose memory it cannot use, train the others: what a Group does by peer
// memory, Ranks do by messages. A step is three: the kernel of columns_sends.cu writes this GPU's parts of dot products into its place of
// a buffer, all get the places of all (all-gather), and the kernel of columns.cu finds there what it would wait for otherwise. So the
// tables are those of a Group, to the bit. All Ranks make the same calls in the same order.
type Rank struct{ *Kernels }

// A Gather gives all Ranks the places of all, on the streams of the devices: see nccl.Comm. Places have bytes[i] bytes in
// buffer i.
type Gather interface {
	AllGather(buffers []cu.DevicePtr, bytes []int64) error
	Close() error
	Abort()
}

// messenger is how a Rank exchanges numbers.
type messenger struct {
	gather Gather
	sends  cu.Function
}

// NewRank takes the memory of a device for training part number rank of the dimensions. All tables are zero. All devices must be
// of one kind.
func NewRank(d *cuda.Device, c Options, rank, ranks int) (*Rank, error) {
	switch {
	case !slices.Contains([]int{2, 4, MaxDevices}, ranks):
		return nil, fmt.Errorf("%d devices; there may be 2, 4 or %d", ranks, MaxDevices)
	case c.SplitsRows():
		return nil, errors.New("devices of several processes share dimensions only")
	}
	m := &messenger{}
	k, err := newKernels(d, c, part{rank, ranks}, whole, m)
	if err != nil {
		return nil, err
	}
	return &Rank{k}, d.Do(func() (err error) {
		size, err := c.kernelSize()
		if err != nil {
			return err
		}
		if m.sends, err = d.Function("cl/columns_sends", fmt.Sprintf("columns_sends_%d_%d", 32/ranks, size)); err != nil {
			return err
		}
		return cuda.AllowShared(m.sends, k.shape.shared)
	})
}

// Join gives the Rank the way to the others: join makes it, on the device's thread. Zeros go first, for NCCL makes
// connections when they are needed, and that takes a part of a second.
func (p *Rank) Join(join func() (Gather, error)) error {
	return p.device.Do(func() error {
		x, err := join()
		if err != nil {
			return err
		}
		p.exchange.by.gather = x
		if err := x.AllGather([]cu.DevicePtr{p.exchange.inboxes}, []int64{int64(p.exchange.bytes)}); err != nil {
			return err
		}
		return p.device.Stream().Synchronize()
	})
}

// Abort ends what waits for other Ranks, from any goroutine. No call works after it but Close.
func (p *Rank) Abort() {
	if m := p.exchange.by; m.gather != nil {
		m.gather.Abort()
	}
}

// Close frees the memory that closing the device does not free.
func (p *Rank) Close() (err error) {
	if m := p.exchange.by; m.gather != nil {
		err = p.device.Do(m.gather.Close)
	}
	return errors.Join(err, p.Kernels.Close())
}

// launchByMessages starts step number i of a series.
func (k *Kernels) launchByMessages(i int, grid cuda.Grid) error {
	e, a := k.exchange, k.columnsArgs(i)
	a.byRows = 1
	place := func(rank int) uint64 { return uint64(e.inboxes) + uint64(rank*e.bytes) }
	for n := range k.part.of {
		a.lost[n] = uint64(e.lost)
		if n > 0 {
			a.inbox[n-1], a.outbox[n-1] = place(k.part.number^n), place(k.part.number) // where it is already
		}
	}
	if err := cuda.Launch(k.device, e.by.sends, grid, a); err != nil {
		return err
	}
	if err := e.by.gather.AllGather([]cu.DevicePtr{e.inboxes}, []int64{int64(e.bytes)}); err != nil {
		return err
	}
	return cuda.Launch(k.device, k.step, grid, a)
}
