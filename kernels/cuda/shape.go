package cuda

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
