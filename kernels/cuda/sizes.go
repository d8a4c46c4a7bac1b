package cuda

import "fmt"

// MaxDim is the largest number of values of a row for which there are kernels.
const MaxDim = 1024

// Padded returns the length of a row of dim values of so many bytes on a device: whole
// sectors of memory, 32 bytes, or whole cache lines of four sectors where that adds a
// twelfth at most. Steps took a twelfth longer with rows of 400 bytes than with 416, a
// tenth longer with 2,000 than with 2,048.
func Padded(dim, bytes int) int {
	sector := 32 / bytes
	line := 4 * sector
	if whole := (dim + line - 1) / line * line; whole-dim <= dim/12 {
		return whole
	}
	return (dim + sector - 1) / sector * sector
}

// Quads returns the number of float4s that a row of dim float32 values takes.
func Quads(dim int) int { return Padded(dim, 4) / 4 }

// KernelSize returns F of the kernels for rows of dim values: they are built for rows of up to
// 128 F values, of which a lane has F float4s.
func KernelSize(dim int) (int, error) {
	for _, f := range []int{1, 2, 3, 4, 8} {
		if dim <= 128*f {
			return f, nil
		}
	}
	return 0, fmt.Errorf("dimension is %d; the CUDA kernels take at most %d", dim, MaxDim)
}

// Sized returns the name of a kernel of a size, as SIZES and METHODS of include/methods.cuh make it.
func Sized(name string, size int) string { return fmt.Sprintf("%s_%d", name, size) }

// Sized returns the name of a kernel of a size that updates rows by the method.
func (m Method) Sized(name string, size int) string { return Sized(name+"_"+m.Kernels, size) }
