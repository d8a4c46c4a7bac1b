//go:build gpu

package cuda

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Allocate returns bytes of the device's memory, all zero. An error names their purpose.
func (d *Device) Allocate(what string, bytes int64) (cu.DevicePtr, error) {
	bytes = max(bytes, 16)
	p, err := cu.MemAlloc(bytes)
	if err != nil {
		free, total, _ := cu.MemInfo()
		return 0, fmt.Errorf("%s: %.1f MB of the memory of %s: %w (%.1f of %.1f MB are free)",
			what, float64(bytes)/1e6, d.Name, err, float64(free)/1e6, float64(total)/1e6)
	}
	d.buffers[p] = bytes
	d.used += bytes
	d.peak.Store(max(d.peak.Load(), d.used))
	return p, cu.MemsetD8(p, 0, bytes)
}

// Free frees memory of Allocate.
func (d *Device) Free(all ...cu.DevicePtr) error {
	for _, p := range all {
		if bytes, ok := d.buffers[p]; ok {
			delete(d.buffers, p)
			d.used -= bytes
			if err := cu.MemFree(p); err != nil {
				return fmt.Errorf("free device memory: %w", err)
			}
		}
	}
	return nil
}

// Bytes returns the memory of n values.
func Bytes[T any](n int) int64 {
	var x T
	return int64(n) * int64(unsafe.Sizeof(x))
}

// Send copies a slice without pointers to the device.
func Send[T any](to cu.DevicePtr, from []T) error {
	if len(from) == 0 {
		return nil
	}
	return cu.MemcpyHtoD(to, unsafe.Pointer(&from[0]), Bytes[T](len(from)))
}

// Receive copies from the device.
func Receive[T any](to []T, from cu.DevicePtr) error {
	if len(to) == 0 {
		return nil
	}
	return cu.MemcpyDtoH(unsafe.Pointer(&to[0]), from, Bytes[T](len(to)))
}

// An Allocator allocates memory and loads kernels until something fails. After that its
// methods return zeros. Without a device it does nothing, and counts what it would take.
type Allocator struct {
	Device *Device
	Err    error // the first

	Taken, Pinned int64 // bytes, of the device's memory and of the host's
}

// Do calls f, which needs a device.
func (a *Allocator) Do(f func() error) {
	if a.Err == nil && a.Device != nil {
		a.Err = f()
	}
}

// Bytes is Device.Allocate.
func (a *Allocator) Bytes(what string, bytes int) (p cu.DevicePtr) {
	a.Taken += int64(max(bytes, 16))
	a.Do(func() (err error) { p, err = a.Device.Allocate(what, int64(bytes)); return err })
	return p
}

// PinnedBy is Pinned.
func PinnedBy[T any](a *Allocator, n int) (values []T) {
	a.Pinned += Bytes[T](n)
	a.Do(func() (err error) { values, err = Pinned[T](n); return err })
	return values
}

// Floats allocates n float32 values.
func (a *Allocator) Floats(what string, n int) cu.DevicePtr { return a.Bytes(what, 4*n) }

// Placed allocates memory for a slice and sends it there.
func Placed[T any](a *Allocator, what string, values []T) cu.DevicePtr {
	return PlacedUpTo(a, what, len(values), values)
}

// PlacedUpTo is Placed in memory for the most values there could be. Without a device there need be none.
func PlacedUpTo[T any](a *Allocator, what string, most int, values []T) cu.DevicePtr {
	p := a.Bytes(what, int(Bytes[T](most)))
	a.Do(func() error {
		return SendParts(p, len(values), 1, func(part []T, first int) { copy(part, values[first:]) })
	})
	return p
}

// PlacedParts is Placed for n values that fill makes, some at a time, on several goroutines.
func PlacedParts[T any](a *Allocator, what string, n int, fill func(to []T, first int)) cu.DevicePtr {
	p := a.Bytes(what, int(Bytes[T](n)))
	a.Do(func() error { return SendParts(p, n, 1, fill) })
	return p
}

// Function is Device.Function for a kernel that may have so many bytes of shared memory.
func (a *Allocator) Function(source, name string, shared int) (f cu.Function) {
	a.Do(func() (err error) {
		if f, err = a.Device.Function(source, name); err == nil && shared > 48<<10 {
			err = AllowShared(f, shared)
		}
		return err
	})
	return f
}
