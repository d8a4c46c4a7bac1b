// Package memory allocates what training needs: large tables, and scratch memory
// that is used again. Start at [Floats].
package memory

import "unsafe"

// hugePage is the size of a large page on the systems that have them, in
// bytes.
const hugePage = 2 << 20

// Floats returns n zeros. Tables of several megabytes are laid on large pages
// where the system has them for the asking (Linux): a step reads rows all over
// a table, and with pages of 4 kB most of these reads would first have to look
// up where their page is.
func Floats(n int) []float32 {
	const floats = hugePage / 4
	if n < 2*floats {
		return make([]float32, n)
	}
	// Room to begin and to end on the bounds of large pages; what lies outside
	// them is never touched, so it takes no memory.
	x := make([]float32, n+2*floats)
	address := uintptr(unsafe.Pointer(&x[0]))
	skip := int((hugePage-address%hugePage)%hugePage) / 4
	pages := (n + floats - 1) / floats
	useHugePages(unsafe.Slice((*byte)(unsafe.Pointer(&x[skip])), pages*hugePage))
	return x[skip : skip+n : skip+n]
}

// Resize returns a slice of length n, x itself if it has room. What it holds does
// not matter.
func Resize[T any](x []T, n int) []T {
	if n > cap(x) {
		return make([]T, n, n+n/4)
	}
	return x[:n]
}
