//go:build gpu

package cuda

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// allocate returns bytes of the device's memory, all zero.
func (d *Device) allocate(what string, bytes int64) (cu.DevicePtr, error) {
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

// free frees what allocate gave.
func (d *Device) free(all ...cu.DevicePtr) error {
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

func sizeOf[T any](n int) int64 {
	var x T
	return int64(n) * int64(unsafe.Sizeof(x))
}

// send copies a slice without pointers to the device.
func send[T any](to cu.DevicePtr, from []T) error {
	if len(from) == 0 {
		return nil
	}
	return cu.MemcpyHtoD(to, unsafe.Pointer(&from[0]), sizeOf[T](len(from)))
}

// receive copies from the device.
func receive[T any](to []T, from cu.DevicePtr) error {
	if len(to) == 0 {
		return nil
	}
	return cu.MemcpyDtoH(unsafe.Pointer(&to[0]), from, sizeOf[T](len(to)))
}

// place allocates memory for a slice and sends it.
func place[T any](d *Device, what string, from []T) (cu.DevicePtr, error) {
	p, err := d.allocate(what, sizeOf[T](len(from)))
	if err != nil {
		return 0, err
	}
	return p, send(p, from)
}

// Rows on the device are padded: quads says how many float4s a row of dim float32 takes.
func quads(dim int) int { return Padded(dim, 4) / 4 }

// sendTable sends (rows, dim) values into padded rows.
func sendTable(to cu.DevicePtr, from []float32, dim int) error {
	return sendRows(to, from, dim, 4*quads(dim))
}

// receiveTable is the way back.
func receiveTable(to []float32, from cu.DevicePtr, dim int) error {
	return receiveRows(to, from, dim, 4*quads(dim))
}

// sendRows sends (rows, columns) values into rows of stride values, with zeros
// behind.
func sendRows(to cu.DevicePtr, from []float32, columns, stride int) error {
	if stride == columns {
		return send(to, from)
	}
	padded := make([]float32, len(from)/columns*stride)
	for i := 0; i*columns < len(from); i++ {
		copy(padded[i*stride:], from[i*columns:][:columns])
	}
	return send(to, padded)
}

// receiveRows is the way back.
func receiveRows(to []float32, from cu.DevicePtr, columns, stride int) error {
	if stride == columns {
		return receive(to, from)
	}
	padded := make([]float32, len(to)/columns*stride)
	if err := receive(padded, from); err != nil {
		return err
	}
	for i := 0; i*columns < len(to); i++ {
		copy(to[i*columns:][:columns], padded[i*stride:])
	}
	return nil
}

// variant returns F, the number of float4s a lane has of a row, for which there
// are kernels.
func variant(dim int) (int, error) {
	for _, f := range []int{1, 2, 3, 4, 8} {
		if dim <= 128*f {
			return f, nil
		}
	}
	return 0, fmt.Errorf("dimension is %d; the CUDA kernels take at most 1024", dim)
}
