package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/trainer"
)

// How GPUs are opened, and whether they can be; tests put another way in its place.
var (
	openDevice  = device.Open
	deviceBuilt = device.Built
)

// deviceModes are the modes that have kernels for a GPU.
var deviceModes = []string{ModeCL, ModeFullW2V}

// An opening is a GPU that is being opened while the text is read: both take a
// good part of a second.
type opening struct {
	done   chan struct{}
	device device.Device
	err    error
}

// openDevice begins to open the device of the job, unless that is the CPU. The
// context ends when that fails: what is read in the meantime is of no use.
func (j *job) openDevice(ctx context.Context) context.Context {
	name := j.config.Device
	if name == DeviceCPU {
		return ctx
	}
	ctx, cancel := context.WithCancelCause(ctx)
	o := &opening{done: make(chan struct{})}
	j.opening = o
	go func() {
		defer close(o.done)
		if o.device, o.err = openDevice(name); o.err != nil {
			o.err = fmt.Errorf("--device %s: %w", name, o.err)
			cancel(o.err)
		}
	}()
	j.closers = append(j.closers, func() error {
		cancel(nil)
		<-o.done
		if o.device == nil {
			return nil
		}
		return o.device.Close()
	})
	return ctx
}

// opened waits for the device of the job. It is nil for the CPU.
func (j *job) opened() (device.Device, error) {
	if j.opening == nil {
		return nil, nil
	}
	<-j.opening.done
	return j.opening.device, j.opening.err
}

// deviceFailed returns the error of opening the device in place of one that it
// led to.
func (j *job) deviceFailed(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && j.opening != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			return cause
		}
	}
	return err
}

// checkDevice refuses training that has no room in the device's memory.
func (j *job) checkDevice(d device.Device, bytes int64) error {
	free, total, err := d.Memory()
	if err != nil {
		return fmt.Errorf("ask %s for its memory: %w", d.Name(), err)
	}
	j.deviceBytes, j.deviceFree = bytes, free
	if bytes <= free {
		return nil
	}
	return fmt.Errorf("training needs about %s of device memory, but %s has %s free of %s: %s",
		terminal.Bytes(bytes), d.Name(), terminal.Bytes(free), terminal.Bytes(total), j.lessMemory())
}

// deviceUse returns the name of the GPU and the most of its memory that was in
// use; nothing for the CPU.
func (j *job) deviceUse() (name string, peak int64) {
	return trainer.Device(j.trainer)
}

// devicePrecision is how the GPU stores tables; nothing for the CPU.
func (c *Config) devicePrecision() string {
	if c.Device == DeviceCPU {
		return ""
	}
	return c.Precision
}

// validateDevice checks --device.
func (c *Config) validateDevice() error {
	if c.Device == DeviceCPU {
		return nil
	}
	if _, err := device.Ordinal(c.Device); err != nil {
		if strings.HasPrefix(c.Device, "cuda:") && strings.Contains(c.Device, ",") {
			return terminal.Usagef("--device %s: training uses one GPU; choose one of them", c.Device)
		}
		return terminal.Usagef("--device %s: unknown device; choose cpu, cuda, or cuda:N for the GPU of number N, counted from 0", c.Device)
	}
	switch {
	case !slices.Contains(deviceModes, c.Mode):
		return terminal.Usagef("--device %s: mode %s has no form for GPUs; %s have one", c.Device, c.Mode, strings.Join(deviceModes, " and "))
	case c.Mode == ModeCL && c.Form != FormFused:
		return terminal.Usagef("--device %s: GPUs have no --form %s; leave it out", c.Device, c.Form)
	case c.Dim > device.MaxDim:
		return terminal.Usagef("--dim %d: on GPUs vectors have at most %d dimensions", c.Dim, device.MaxDim)
	case c.Subword == SubwordCNN && c.symbols() > device.MaxCNNSymbols:
		return terminal.Usagef("--max-chars %d: on GPUs words have at most %d characters", c.MaxChars, device.MaxCNNSymbols-2)
	case c.Subword == SubwordCNN && strings.Count(c.Widths, ",") >= device.MaxCNNWidths:
		return terminal.Usagef("--widths %s: GPUs take at most %d widths", c.Widths, device.MaxCNNWidths)
	case c.Mode == ModeFullW2V && c.Negative > device.MaxFullW2VNegatives:
		return terminal.Usagef("--negative %d: on GPUs mode %s takes at most %d", c.Negative, c.Mode, device.MaxFullW2VNegatives)
	case c.Mode == ModeFullW2V && c.Window > device.MaxFullW2VWindow:
		return terminal.Usagef("--window %d: on GPUs mode %s takes at most %d", c.Window, c.Mode, device.MaxFullW2VWindow)
	case c.Mode == ModeFullW2V && c.Precision == PrecisionHalf && (c.Negative > device.MaxHalfNegatives || c.Window > device.MaxHalfWindow):
		return terminal.Usagef("--precision %s: mode %s takes --negative up to %d and --window up to %d with it", c.Precision, c.Mode, device.MaxHalfNegatives, device.MaxHalfWindow)
	case c.Subword != "" && c.Subword != SubwordNone && c.Precision == PrecisionHalf:
		return terminal.Usagef("--precision %s: --subword %s has tables of %s only", c.Precision, c.Subword, PrecisionFloat32)
	case !deviceBuilt:
		return terminal.Usagef("--device %s: %v", c.Device, device.ErrNotBuilt)
	}
	return nil
}
