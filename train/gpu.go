package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A gpu trains on GPUs, of this process or of all ranks. It opens them while it reads the text, because both take a
// good part of a second.
type gpu struct {
	processor
	cancel context.CancelCauseFunc // nil: it was not opened
	opened chan struct{}           // closed when device and err are there
	device device.Device
	err    error

	free, total int64 // bytes of its memory
	bytes       int64 // that training takes, an estimate
	matrixBytes int64 // of these, those of M
}

// read begins to open the device and reads the text. If the device cannot be opened, reading on would be in vain. All ranks
// must have read the same text.
func (g *gpu) read(ctx context.Context, p *progress.Progress) (*text, error) {
	name, group := g.job.config.Device, g.job.options.Ranks
	place, err := group.Place()
	if err != nil {
		return nil, group.Known(err)
	}
	ctx, g.cancel = context.WithCancelCause(ctx)
	g.opened = make(chan struct{})
	go func() {
		defer close(g.opened)
		if g.device, g.err = openDevice(name, group, place); g.err != nil {
			g.err = fmt.Errorf("--device %s: %w", name, g.err)
			g.cancel(g.err)
		}
	}()
	t, err := g.processor.read(ctx, p)
	if err := group.Agree(cause(ctx, err)); err != nil {
		return t, err
	}
	if group == nil {
		return t, nil
	}
	return t, group.Known(cluster.Same(group, "the text of "+g.job.config.Input(), "one with fingerprint "+corpus.Hex(t.fingerprint())))
}

// cause returns the error of opening the device in place of one that it led to,
// of work under the context that ends with it.
func cause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause != nil && !errors.Is(cause, context.Canceled) && (errors.Is(err, context.Canceled) || errors.Is(err, cause)) {
		return cause
	}
	return err
}

// plan also waits for the device and plans its memory. It refuses training that needs more than is free. A matrix is added if the
// device takes it.
func (g *gpu) plan(b *blueprint) error {
	if <-g.opened; g.err != nil {
		return g.err
	}
	d, m := g.device, b.matrix
	if m == nil {
		g.takeDriver()
		var err error
		if g.free, g.total, err = d.Memory(); err != nil {
			return fmt.Errorf("cannot read the memory of %s: %w", d.Name(), err)
		}
	}
	err := g.job.ask(func(a *trainer.Account) (err error) {
		g.bytes, err = b.planOn(d, a, g.free)
		return err
	})
	if err != nil {
		return err
	}
	if m != nil && !m.Bounded() && device.TakesMatrix(m.Bytes(), g.free-g.bytes) {
		g.bytes, g.matrixBytes = g.bytes+m.Bytes(), m.Bytes()
	}
	if g.bytes <= g.free {
		return nil
	}
	return fmt.Errorf("training needs about %s of device memory%s, but %s has %s free of %s: %s",
		terminal.Bytes(g.bytes), device.OnEach(d.GPUs()), d.Name(), terminal.Bytes(g.free), terminal.Bytes(g.total), g.job.lessMemory())
}

// takeDriver counts the host's memory that an open device has, and what the driver takes for kernels and copies.
func (g *gpu) takeDriver() {
	const kernels = 64 << 20
	j := g.job
	j.program = max(j.program, memory.Resident()-j.memoryOf(&trainer.Account{}).Corpus) + kernels
}

func (g *gpu) make(b *blueprint, _ *progress.Progress) (trainer.Trainer, error) {
	return b.makeOn(g.device)
}

// tell also writes the memory around the estimate.
func (g *gpu) tell(m *runfolder.Memory) {
	if g.bytes > 0 { // plan has waited for the device
		m.Devices, m.Device, m.DeviceMatrix, m.DeviceFree, m.DeviceOccupied = g.device.GPUs(), g.bytes, g.matrixBytes, g.free, g.device.Occupied()
	}
}

func (g *gpu) close() {
	if g.cancel == nil {
		return
	}
	g.cancel(nil)
	if <-g.opened; g.device != nil {
		_ = g.device.Close() // nothing is lost with it
	}
}
