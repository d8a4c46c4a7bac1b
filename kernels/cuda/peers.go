//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"sync"

	"gorgonia.org/cu"
)

// ErrNoPeer is the error of Connect for devices that cannot use each other's memory.
var ErrNoPeer = errors.New("no access to the memory of a peer")

// Together calls f with 0 to n-1 at the same time, as for the devices of a group, and returns its errors in this order.
func Together(n int, f func(i int) error) (failed []error) {
	failed = make([]error, n)
	var working sync.WaitGroup
	for i := range n {
		working.Go(func() { failed[i] = f(i) })
	}
	working.Wait()
	return failed
}

// Connect lets each of several devices read and write the memory of the others.
func Connect(devices []*Device) error {
	for _, d := range devices {
		for _, peer := range devices {
			if d.ordinal == peer.ordinal {
				continue
			}
			if err := d.Do(func() error { return d.connect(peer) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Device) connect(peer *Device) error {
	can, err := d.ordinal.CanAccessPeer(peer.ordinal)
	if err == nil && can == 0 {
		return fmt.Errorf("%w: GPU %d cannot use that of GPU %d", ErrNoPeer, d.ordinal, peer.ordinal)
	}
	if err == nil {
		err = peer.context.EnablePeerAccess(0)
	}
	if err != nil && !errors.Is(err, cu.PeerAccessAlreadyEnabled) {
		return fmt.Errorf("let GPU %d use the memory of GPU %d: %w", d.ordinal, peer.ordinal, err)
	}
	return nil
}

// Reaches returns which of the machine's devices can use the memory of which: of device i that
// of device j at [i][j], true for j = i.
func Reaches() ([][]bool, error) {
	count, err := devices()
	if err != nil {
		return nil, err
	}
	reaches := make([][]bool, count)
	for i := range reaches {
		for j := range count {
			can := 1
			if i != j {
				if can, err = cu.Device(i).CanAccessPeer(cu.Device(j)); err != nil {
					return nil, fmt.Errorf("CUDA devices %d and %d: %w", i, j, err)
				}
			}
			reaches[i] = append(reaches[i], can != 0)
		}
	}
	return reaches, nil
}

// Twin returns a device that shares the GPU and the context of d, with a stream of its own: tests
// have several devices on one GPU so. It must be closed before d.
func (d *Device) Twin() (*Device, error) {
	t := &Device{
		Info: d.Info, ordinal: d.ordinal, portable: d.portable, twin: true, context: d.context, occupied: d.occupied,
		calls: make(chan func()), modules: map[string]cu.Module{}, buffers: map[cu.DevicePtr]int64{},
	}
	go t.serve()
	err := t.Do(func() (err error) {
		if err = cu.SetCurrentContext(t.context); err == nil {
			t.stream, err = cu.MakeStream(cu.DefaultStream)
		}
		return err
	})
	if err != nil {
		close(t.calls)
		return nil, fmt.Errorf("another device on %s: %w", d.Name, err)
	}
	return t, nil
}

// Ordinal returns the number of the GPU.
func (d *Device) Ordinal() int { return int(d.ordinal) }
