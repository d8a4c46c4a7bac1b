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
	"github.com/w2vcl/w2vcl/train/settings"
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

	bytes, free int64 // of its memory: the estimate of training, and free before
	matrixBytes int64 // of these bytes, those of M
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
	b.sequential.Idle = true // tables are trained on the device
	if err := g.processor.plan(b); err != nil {
		return err
	}
	if m := b.matrix; m != nil {
		if !m.Bounded() && device.TakesMatrix(m.Bytes(), g.free-g.bytes) {
			g.bytes, g.matrixBytes = g.bytes+m.Bytes(), m.Bytes()
		}
		return nil
	}
	if <-g.opened; g.err != nil {
		return g.err
	}
	g.takeDriver()
	d := g.device
	free, total, err := d.Memory()
	if err != nil {
		return fmt.Errorf("cannot read the memory of %s: %w", d.Name(), err)
	}
	if g.bytes, err = g.estimate(b, free); err != nil {
		return err
	}
	g.free = free
	if g.bytes <= free {
		return nil
	}
	return fmt.Errorf("training needs about %s of device memory%s, but %s has %s free of %s: %s",
		terminal.Bytes(g.bytes), device.OnEach(d.GPUs()), d.Name(), terminal.Bytes(free), terminal.Bytes(total), g.job.lessMemory())
}

// takeDriver counts the host's memory that an open device has, and what the driver takes for kernels and copies.
func (g *gpu) takeDriver() {
	const kernels = 64 << 20
	j := g.job
	j.program = max(j.program, memory.Resident()-j.memoryOf(&trainer.Account{}).Corpus) + kernels
}

// estimate returns the bytes of the device's memory that training takes, and takes those of the host's beside
// what the processor's trainer has.
func (g *gpu) estimate(b *blueprint, free int64) (int64, error) {
	words, host := g.job.text.vocabulary.Len(), g.job.account
	switch g.job.mode.Family {
	case settings.LargeBatch:
		return device.MemoryCL(g.device, words, b.slots, b.graph, g.precision())
	case settings.Stretches:
		host.Take(trainer.ForWork, device.HostMemoryCBOW(b.stretches, b.graph))
		return device.MemoryCBOW(b.stretches, b.graph, g.device.GPUs()), nil
	case settings.Minibatch:
		host.Take(trainer.ForWork, device.HostMemoryVanilla(words, b.pairs, b.graph))
		return device.MemoryVanilla(words, b.pairs, b.graph), nil
	default:
		return device.MemorySequential(g.job.text.corpus, b.sequential, g.precision(), free, g.device.GPUs())
	}
}

func (g *gpu) precision() device.Precision { return device.Precision(g.job.config.Precision) }

func (g *gpu) make(b *blueprint, _ *progress.Progress) (trainer.Trainer, error) {
	text := g.job.text.corpus
	switch g.job.mode.Family {
	case settings.LargeBatch:
		return device.NewCL(g.device, b.matrix, b.noise, b.iterations, b.graph, g.precision())
	case settings.Stretches:
		return device.NewCBOW(g.device, b.stretches, b.iterations, b.graph, g.precision())
	case settings.Minibatch:
		return device.NewVanilla(g.device, text, b.noise, b.pairs, b.graph, g.precision())
	default:
		return device.NewSequential(g.device, text, b.noise, g.job.start, b.sequential, g.precision())
	}
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
