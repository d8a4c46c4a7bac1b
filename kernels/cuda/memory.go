//go:build gpu

package cuda

import (
	"embed"
	"errors"
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

// Place allocates memory for a slice and sends it there.
func Place[T any](d *Device, what string, from []T) (cu.DevicePtr, error) {
	p, err := d.Allocate(what, Bytes[T](len(from)))
	if err != nil {
		return 0, err
	}
	return p, Send(p, from)
}

// PartValues is how many values of a table that is laid out otherwise in memory are brought to the device or back
// at a time: a copy of all would double its memory.
const PartValues = 1 << 20

// Columns are some of the columns of a table on the host, which a device has as rows of stride values, with zeros behind.
type Columns struct{ First, Count, Stride int }

// SendRows sends (rows, columns) values to rows of stride values, with zeros behind.
func SendRows(to cu.DevicePtr, from []float32, columns, stride int) error {
	return SendColumns(to, from, columns, Columns{0, columns, stride})
}

// ReceiveRows is the way back.
func ReceiveRows(to []float32, from cu.DevicePtr, columns, stride int) error {
	return ReceiveColumns(to, from, columns, Columns{0, columns, stride})
}

// SendColumns sends some columns of (rows, width) values.
func SendColumns(to cu.DevicePtr, from []float32, width int, x Columns) error {
	if x.Stride == width {
		return Send(to, from)
	}
	return x.inParts(len(from)/width, func(padded []float32, row int) error {
		for i := range len(padded) / x.Stride {
			copy(padded[i*x.Stride:], from[(row+i)*width+x.First:][:x.Count])
		}
		return Send(to+cu.DevicePtr(Bytes[float32](row*x.Stride)), padded)
	})
}

// ReceiveColumns is the way back. It leaves other columns as they are.
func ReceiveColumns(to []float32, from cu.DevicePtr, width int, x Columns) error {
	if x.Stride == width {
		return Receive(to, from)
	}
	return x.inParts(len(to)/width, func(padded []float32, row int) error {
		err := Receive(padded, from+cu.DevicePtr(Bytes[float32](row*x.Stride)))
		for i := range len(padded) / x.Stride {
			copy(to[(row+i)*width+x.First:][:x.Count], padded[i*x.Stride:])
		}
		return err
	})
}

// inParts calls f for rows, some at a time, with a buffer for them and the number of the first.
func (x Columns) inParts(rows int, f func(padded []float32, row int) error) error {
	if x.Count == 0 {
		return nil
	}
	return InParts(rows*x.Stride, x.Stride, PartValues, func(padded []float32, first int) error { return f(padded, first/x.Stride) })
}

// InParts calls f for n values in order, some at a time, with a buffer for them and the number of the first. A part has
// whole groups of each values, and no more than most values unless one group has. The buffer of a large part is pinned: copies from it or
// to it take a fraction of the time. It begins as zeros, which stay where f does not write, as in padding.
func InParts[T any](n, each, most int, f func(part []T, first int) error) (err error) {
	const large = 1 << 20 // bytes; to pin memory takes as long as to copy some hundred kilobytes
	var part []T
	if count := min(n, max(most/each, 1)*each); Bytes[T](count) < large {
		part = make([]T, count)
	} else {
		if part, err = Pinned[T](count); err != nil {
			return err
		}
		clear(part)
		whole := part
		defer func() { err = errors.Join(err, Unpin(whole)) }()
	}
	for first := 0; first < n; first += len(part) {
		part = part[:min(len(part), n-first)]
		if err := f(part, first); err != nil {
			return err
		}
	}
	return nil
}

// An Allocator allocates memory and loads kernels until something fails. After that its
// methods return zeros.
type Allocator struct {
	Device *Device
	Err    error // the first
}

// Bytes is Device.Allocate.
func (a *Allocator) Bytes(what string, bytes int) cu.DevicePtr {
	if a.Err != nil {
		return 0
	}
	var p cu.DevicePtr
	p, a.Err = a.Device.Allocate(what, int64(bytes))
	return p
}

// Floats allocates n float32 values.
func (a *Allocator) Floats(what string, n int) cu.DevicePtr { return a.Bytes(what, 4*n) }

// Placed is Place.
func Placed[T any](a *Allocator, what string, values []T) cu.DevicePtr {
	if a.Err != nil {
		return 0
	}
	var p cu.DevicePtr
	p, a.Err = Place(a.Device, what, values)
	return p
}

// PlacedParts is Placed for n values that fill makes, in order, some at a time.
func PlacedParts[T any](a *Allocator, what string, n int, fill func(to []T, first int)) cu.DevicePtr {
	const atATime = 1 << 22
	p := a.Bytes(what, int(Bytes[T](n)))
	if a.Err == nil {
		a.Err = InParts(n, 1, atATime, func(part []T, first int) error {
			fill(part, first)
			return Send(p+cu.DevicePtr(Bytes[T](first)), part)
		})
	}
	return p
}

// Function is Device.Function for a kernel that may have so many bytes of shared memory.
func (a *Allocator) Function(built embed.FS, source, name string, shared int) cu.Function {
	if a.Err != nil {
		return cu.Function{}
	}
	var f cu.Function
	if f, a.Err = a.Device.Function(built, source, name); a.Err == nil && shared > 48<<10 {
		a.Err = AllowShared(f, shared)
	}
	return f
}
