//go:build gpu

package cuda

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

//go:embed built
var built embed.FS

// ErrNoDevice is the error of Open on a machine without a usable GPU.
var ErrNoDevice = errors.New("no CUDA device")

// A Device is a GPU that is in use. Its methods, and those of what was made on
// it, may be called from any goroutine; one call runs at a time, on one thread of
// the operating system, to which the driver's context belongs.
type Device struct {
	Info

	portable bool // use PTX even if there is machine code; for tests

	calls   chan func()
	context cu.CUContext
	stream  cu.Stream
	modules map[string]cu.Module
	buffers map[cu.DevicePtr]int64 // bytes of each
	used    int64                  // bytes of all of them
	peak    atomic.Int64           // the most there were
}

// Open takes device number ordinal, counted from 0, into use.
func Open(ordinal int) (*Device, error) {
	count, err := devices()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= count {
		return nil, fmt.Errorf("there is no CUDA device %d: this machine has %d, counted from 0", ordinal, count)
	}
	d := &Device{calls: make(chan func()), modules: map[string]cu.Module{}, buffers: map[cu.DevicePtr]int64{}}
	go d.serve()
	if err := d.do(func() error { return d.open(cu.Device(ordinal)) }); err != nil {
		close(d.calls)
		return nil, fmt.Errorf("open CUDA device %d: %w", ordinal, err)
	}
	return d, nil
}

// serve runs all calls on one thread.
func (d *Device) serve() {
	runtime.LockOSThread()
	for call := range d.calls {
		call()
	}
}

func (d *Device) do(f func() error) error {
	done := make(chan error)
	d.calls <- func() { done <- f() }
	return <-done
}

func (d *Device) open(device cu.Device) (err error) {
	if d.Info, err = describe(device); err != nil {
		return err
	}
	if !d.Usable() {
		return fmt.Errorf("%s has compute capability %d.%d; the kernels need 8.0", d.Name, d.Capability[0], d.Capability[1])
	}
	if d.context, err = device.MakeContext(cu.SchedAuto); err != nil {
		return err
	}
	d.stream, err = cu.MakeStream(cu.DefaultStream) // waits for copies and fills, which are not on it
	return err
}

// Close frees the device and all that was made on it.
func (d *Device) Close() error {
	err := d.do(func() error {
		for b := range d.buffers {
			_ = cu.MemFree(b) // the context frees what this does not
		}
		return d.context.Destroy()
	})
	close(d.calls)
	return err
}

// Memory returns how many bytes of the device's memory are free, and how many
// there are.
func (d *Device) Memory() (free, total int64, err error) {
	err = d.do(func() error {
		free, total, err = cu.MemInfo()
		return err
	})
	return free, total, err
}

// machineCode says if built/ has machine code for the device.
func (d *Device) machineCode() bool { return d.Capability == [2]int{9, 0} && !d.portable }

// overlaps says if a kernel of machine code may begin while the one before it ends:
// drivers before CUDA 12.3 do not record that in graphs.
func (d *Device) overlaps() bool { return d.machineCode() && cu.Version() >= 12030 }

// Peak returns the most bytes that were allocated at a time. What the driver
// takes for itself is not counted.
func (d *Device) Peak() int64 { return d.peak.Load() }

// Copy returns how many bytes a second the device reads and writes when it copies
// so many from one place of its memory to another: the best of ten times.
func (d *Device) Copy(bytes int64) (perSecond float64, err error) {
	best := time.Duration(math.MaxInt64)
	err = d.do(func() error {
		from, err := d.allocate("a place to copy from", bytes)
		if err != nil {
			return err
		}
		to, err := d.allocate("a place to copy to", bytes)
		if err != nil {
			return errors.Join(err, d.free(from))
		}
		for range 10 {
			start := time.Now()
			if err = cu.MemcpyDtoDAsync(to, from, bytes, d.stream); err == nil {
				err = d.stream.Synchronize()
			}
			if err != nil {
				break
			}
			best = min(best, time.Since(start))
		}
		return errors.Join(err, d.free(from, to))
	})
	return 2 * float64(bytes) / best.Seconds(), err
}

// function returns a kernel of built/. Machine code is used where the device is
// the one it is for.
func (d *Device) function(module, name string) (cu.Function, error) {
	m, ok := d.modules[module]
	if !ok {
		file := "built/" + module + ".ptx"
		if d.machineCode() {
			file = "built/" + module + ".cubin"
		}
		image, err := built.ReadFile(file)
		if err != nil {
			return cu.Function{}, err
		}
		if m, err = cu.LoadData(string(image)); err != nil {
			return cu.Function{}, fmt.Errorf("load %s: %w", file, err)
		}
		d.modules[module] = m
	}
	f, err := m.Function(name)
	if err != nil {
		return f, fmt.Errorf("kernel %s of %s.cu: %w", name, module, err)
	}
	return f, nil
}

// launch starts a kernel, of which every argument is a pointer to the device's
// memory or a uint64.
func (d *Device) launch(f cu.Function, blocks, threads, shared int, arguments ...uint64) error {
	pointers := make([]unsafe.Pointer, len(arguments))
	for i := range arguments {
		pointers[i] = unsafe.Pointer(&arguments[i])
	}
	return f.Launch(blocks, 1, 1, threads, 1, 1, shared, d.stream, pointers)
}
