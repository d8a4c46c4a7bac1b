package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// openDevice opens a GPU; tests put another way in its place.
var openDevice = func(name string) (device.Device, error) { return device.Open(name) }

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

// read begins to open the device and reads the text. If the device cannot be opened, reading on would be in vain.
func (g *gpu) read(ctx context.Context, p *progress.Progress) (*text, error) {
	name, group := g.job.config.Device, g.job.options.Ranks
	ctx, g.cancel = context.WithCancelCause(ctx)
	g.opened = make(chan struct{})
	go func() {
		defer close(g.opened)
		if g.device, g.err = group.OpenDevice(name, openDevice); g.err != nil {
			g.err = fmt.Errorf("--device %s: %w", name, g.err)
			g.cancel(g.err)
		}
	}()
	t, err := g.processor.read(ctx, p)
	return t, group.Agree(cause(ctx, err))
}

// prepare also makes sure that all ranks have read the same text.
func (g *gpu) prepare(ctx context.Context, p *progress.Progress) error {
	group := g.job.options.Ranks
	if err := group.SameText(g.job.config.Input(), g.job.text.fingerprint); err != nil {
		return err
	}
	return group.Agree(g.job.prepareMode(ctx, p))
}

// wait returns the device once it is open.
func (g *gpu) wait() (device.Device, error) {
	<-g.opened
	return g.device, g.err
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

// reserve refuses training that needs more memory than the device has free. need
// estimates it, in bytes.
func (g *gpu) reserve(need func(d device.Device, free int64) (int64, error)) error {
	d, err := g.wait()
	if err != nil {
		return err
	}
	g.takeDriver()
	free, total, err := d.Memory()
	if err != nil {
		return fmt.Errorf("cannot read the memory of %s: %w", d.Name(), err)
	}
	if g.bytes, err = need(d, free); err != nil {
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

func (g *gpu) precision() device.Precision { return device.Precision(g.job.config.Precision) }

func (g *gpu) needCL(model graph.Options) error {
	if err := g.processor.needCL(model); err != nil {
		return err
	}
	words := g.job.text.vocabulary.Len()
	slots := wordcontext.EstimateSlots(words, g.job.config.MatrixOptions())
	return g.reserve(func(d device.Device, _ int64) (int64, error) {
		return device.MemoryCLOn(d, words, slots, model, g.precision())
	})
}

func (g *gpu) needCBOW(s *wordcontext.Stretches, model graph.Options) error {
	if err := g.processor.needCBOW(s, model); err != nil {
		return err
	}
	g.job.account.Take(trainer.ForWork, device.HostMemoryCBOW(s, model))
	return g.reserve(func(d device.Device, _ int64) (int64, error) { return device.MemoryCBOW(s, model, d.GPUs()), nil })
}

func (g *gpu) needVanilla(pairs graph.VanillaOptions, model graph.Options) error {
	if err := g.processor.needVanilla(pairs, model); err != nil {
		return err
	}
	words := g.job.text.vocabulary.Len()
	g.job.account.Take(trainer.ForWork, device.HostMemoryVanilla(words, pairs, model))
	return g.reserve(func(device.Device, int64) (int64, error) { return device.MemoryVanilla(words, pairs, model), nil })
}

func (g *gpu) needSequential(model sequential.Options) error {
	model.Idle = true
	if err := g.processor.needSequential(model); err != nil {
		return err
	}
	return g.reserve(func(d device.Device, free int64) (int64, error) {
		return device.MemorySequential(g.job.text.corpus, model, g.precision(), free, d.GPUs())
	})
}

// matrix adds M to the estimate if the device takes it.
func (g *gpu) matrix(ctx context.Context, model graph.Options, p *progress.Progress) (*wordcontext.Matrix, error) {
	m, err := g.processor.matrix(ctx, model, p)
	if err == nil && !m.Bounded() && device.TakesMatrix(m.Bytes(), g.free-g.bytes) {
		g.bytes, g.matrixBytes = g.bytes+m.Bytes(), m.Bytes()
	}
	return m, err
}

func (g *gpu) newCL(m *wordcontext.Matrix, noise *corpus.Alias, iterations int, model graph.Options) (trainer.Trainer, error) {
	return device.NewCL(g.device, m, noise, iterations, model, g.precision())
}

func (g *gpu) newCBOW(s *wordcontext.Stretches, iterations int, model graph.Options) (trainer.Trainer, error) {
	return device.NewCBOW(g.device, s, iterations, model, g.precision())
}

func (g *gpu) newVanilla(noise *corpus.Alias, pairs graph.VanillaOptions, model graph.Options) (trainer.Trainer, error) {
	return device.NewVanilla(g.device, g.job.text.corpus, noise, pairs, model, g.precision())
}

func (g *gpu) newSequential(noise *corpus.Alias, model sequential.Options, _ *progress.Progress) (trainer.Trainer, error) {
	return device.NewSequential(g.device, g.job.text.corpus, noise, g.job.start, model, g.precision())
}

// tell also writes the memory around the estimate.
func (g *gpu) tell(m *runfolder.Memory) {
	if g.bytes > 0 { // reserve has waited for the device
		m.Devices, m.Device, m.DeviceMatrix, m.DeviceFree, m.DeviceOccupied = g.device.GPUs(), g.bytes, g.matrixBytes, g.free, g.device.Occupied()
	}
}

func (g *gpu) close() {
	if g.cancel == nil {
		return
	}
	g.cancel(nil)
	if d, _ := g.wait(); d != nil {
		_ = d.Close() // nothing is lost with it
	}
}
