package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train/ranks"
)

// openDevice opens a GPU; tests put another way in its place.
var openDevice = func(name string) (device.Device, error) { return device.Open(name) }

// A gpu is the GPU of a run. It is opened while the text is read: both take a
// good part of a second. The nil *gpu is none: the run is on the CPU.
type gpu struct {
	cancel context.CancelCauseFunc
	opened chan struct{} // closed when device and err are there
	device device.Device
	err    error

	bytes, free int64 // of its memory: the estimate of training, and free before
	matrix      int64 // of these bytes, those of M
}

// openGPU begins to open the named device; the result is nil for the CPU. The
// context that it returns ends when that fails: reading on would be in vain.
func openGPU(ctx context.Context, name string, group *ranks.Group) (*gpu, context.Context) {
	if name == settings.DeviceCPU {
		return nil, ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	g := &gpu{cancel: cancel, opened: make(chan struct{})}
	go func() {
		defer close(g.opened)
		if g.device, g.err = group.OpenDevice(name, openDevice); g.err != nil {
			g.err = fmt.Errorf("--device %s: %w", name, g.err)
			cancel(g.err)
		}
	}()
	return g, ctx
}

// wait returns the device once it is open; nil for the CPU.
func (g *gpu) wait() (device.Device, error) {
	if g == nil {
		return nil, nil
	}
	<-g.opened
	return g.device, g.err
}

// cause returns the error of opening the device in place of one that it led to,
// of work under the context of openGPU.
func (g *gpu) cause(ctx context.Context, err error) error {
	if g != nil && errors.Is(err, context.Canceled) {
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			return cause
		}
	}
	return err
}

// reserve refuses training that needs more memory than the device has free. need
// estimates it, in bytes; advice says how to need less.
func (g *gpu) reserve(need func(d device.Device, free int64) (int64, error), advice string) error {
	d, err := g.wait()
	if d == nil || err != nil {
		return err
	}
	free, total, err := d.Memory()
	if err != nil {
		return fmt.Errorf("ask %s for its memory: %w", d.Name(), err)
	}
	if g.bytes, err = need(d, free); err != nil {
		return err
	}
	g.free = free
	if g.bytes <= free {
		return nil
	}
	return fmt.Errorf("training needs about %s of device memory%s, but %s has %s free of %s: %s",
		terminal.Bytes(g.bytes), device.OnEach(d.GPUs()), d.Name(), terminal.Bytes(free), terminal.Bytes(total), advice)
}

// takeMatrix adds M, of so many bytes, to the estimate if the device takes it.
func (g *gpu) takeMatrix(bytes int64) {
	if g != nil && device.TakesMatrix(bytes, g.free-g.bytes) {
		g.bytes, g.matrix = g.bytes+bytes, bytes
	}
}

// estimate writes the estimate of training and the memory around it into m.
func (g *gpu) estimate(m *runfolder.Memory) {
	if g != nil && g.bytes > 0 { // reserve has waited for the device
		m.Devices, m.Device, m.DeviceMatrix, m.DeviceFree, m.DeviceOccupied = g.device.GPUs(), g.bytes, g.matrix, g.free, g.device.Occupied()
	}
}

func (g *gpu) close() error {
	if g == nil {
		return nil
	}
	g.cancel(nil)
	<-g.opened
	if g.device == nil {
		return nil
	}
	return g.device.Close()
}
