//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"gorgonia.org/cu"
)

// ErrNoDevice is the error of Open on a machine without a usable GPU.
var ErrNoDevice = errors.New("no CUDA device")

// ErrNoKernels is the error of Open in a program for which build.sh was not run.
var ErrNoKernels = errors.New("this program was built without CUDA kernels: run make cuda")

// A Device is a GPU in use. Its memory and its kernels belong to a context of the driver,
// and that to one thread of the operating system: whatever calls the driver does so in a
// function that Do runs there. Memory, Peak, Occupied, Copy and Close do it themselves.
type Device struct {
	Info

	ordinal  cu.Device
	portable bool // use PTX even if there is machine code
	twin     bool // the context is another's, see Twin

	calls    chan func()
	context  cu.CUContext
	stream   cu.Stream
	asides   []*Aside
	modules  map[string]cu.Module   // by their sources
	buffers  map[cu.DevicePtr]int64 // bytes of each
	used     int64                  // bytes of all of them
	peak     atomic.Int64           // the most there were
	occupied int64
}

// Open takes device number ordinal, counted from 0, into use.
func Open(ordinal int) (*Device, error) {
	count, err := devices()
	if err != nil {
		return nil, err
	}
	if !HasKernels() {
		return nil, ErrNoKernels
	}
	if ordinal < 0 || ordinal >= count {
		return nil, fmt.Errorf("there is no CUDA device %d: this machine has %d, counted from 0", ordinal, count)
	}
	d := &Device{calls: make(chan func()), modules: map[string]cu.Module{}, buffers: map[cu.DevicePtr]int64{}}
	go d.serve()
	if err := d.Do(func() error { return d.open(cu.Device(ordinal)) }); err != nil {
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

// Do runs f on the device's thread and returns its error. It may be called from any
// goroutine, but not by f; one function runs at a time.
func (d *Device) Do(f func() error) error {
	done := make(chan error)
	d.calls <- func() { done <- f() }
	return <-done
}

func (d *Device) open(device cu.Device) (err error) {
	d.ordinal = device
	if d.Info, err = describe(device); err != nil {
		return err
	}
	if !d.Usable() {
		return fmt.Errorf("%s has compute capability %d.%d; the kernels need 8.0", d.Name, d.Capability[0], d.Capability[1])
	}
	if d.context, err = primaryContext(device); err != nil { // which libraries like NCCL take, too
		return err
	}
	if d.stream, err = cu.MakeStream(cu.DefaultStream); err != nil { // waits for copies and fills, which are not on it
		return err
	}
	free, total, err := cu.MemInfo()
	d.occupied = total - free
	return err
}

// Close frees the device and all that was made on it.
func (d *Device) Close() error {
	err := d.Do(func() error {
		for b := range d.buffers {
			_ = cu.MemFree(b) // the context frees all that is left, when nobody else in the process uses it
		}
		var freed error
		for _, a := range d.asides {
			freed = errors.Join(freed, a.free())
		}
		if d.twin {
			return errors.Join(freed, d.stream.Destroy())
		}
		return errors.Join(freed, d.stream.Destroy(), d.ordinal.ReleasePrimaryCtx())
	})
	close(d.calls)
	return err
}

// Stream returns the stream on which the device does all its work in order.
func (d *Device) Stream() cu.Stream { return d.stream }

// Memory returns how many bytes of the device's memory are free, and how many
// there are.
func (d *Device) Memory() (free, total int64, err error) {
	err = d.Do(func() error {
		free, total, err = cu.MemInfo()
		return err
	})
	return free, total, err
}

// Occupied returns how many bytes of the device's memory were not free when it had been
// opened: CUDA's own context takes about 530 MB on an H200, and other programs may run.
func (d *Device) Occupied() int64 { return d.occupied }

// Peak returns the most bytes that were allocated at a time. The driver's own are not counted:
// see Occupied.
func (d *Device) Peak() int64 { return d.peak.Load() }

// Portable makes the device run PTX even where there is machine code for it. It counts for
// kernels that are loaded later.
func (d *Device) Portable() { d.portable = true }

// MachineCode reports whether the device runs machine code: there is some for sm_90.
func (d *Device) MachineCode() bool { return d.Capability == [2]int{9, 0} && !d.portable }

// Overlaps reports whether a kernel of machine code may begin while the one before it ends:
// drivers before CUDA 12.3 do not record that in graphs.
func (d *Device) Overlaps() bool { return d.MachineCode() && cu.Version() >= 12030 }
