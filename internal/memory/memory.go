// Package memory allocates the large tables of training, and scratch memory that
// loops use again. Start at [Floats]. [Guard] refuses work that there is no memory
// for, [Settle] bounds garbage.
package memory

import (
	"math"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// hugePage is the size of a large page in bytes.
const hugePage = 2 << 20

// Floats returns n zeros. On Linux it asks for large pages for a table of several
// megabytes: a step reads rows all over a table, and with pages of 4 kB most of
// these reads would first look up the address of their page.
func Floats(n int) []float32 {
	const floats = hugePage / 4
	if n < 2*floats {
		return make([]float32, n)
	}
	// The slice is longer so that the table can lie on whole large pages. The rest takes no
	// memory: nobody touches it, but Go has written zeros to it where the memory was used before.
	pages := (n + floats - 1) / floats
	x := make([]float32, (pages+1)*floats)
	address := uintptr(unsafe.Pointer(&x[0]))
	skip := int((hugePage-address%hugePage)%hugePage) / 4
	whole := skip + pages*floats
	Discard(BytesOf(x[:skip]))
	useHugePages(BytesOf(x[skip:whole]))
	Discard(BytesOf(x[whole:]))
	return x[skip : skip+n : skip+n]
}

// SizeOf is how many bytes [Floats] takes for n values: a large table has whole large pages.
func SizeOf(n int) int64 {
	size := 4 * int64(n)
	if size < 2*hugePage {
		return size
	}
	return (size + hugePage - 1) / hugePage * hugePage
}

// Touch gives a table that was never written its memory, on as many threads: the
// system does that at the first write of each page, and takes longer for it than
// training does for a row. Values stay as they are.
func Touch(table []float32, threads int) {
	const page = 1 << 10 // of 4 kB
	parallel.Ranges(threads, len(table), 1<<22, func(first, end int) {
		for i := first; i < end; i += page {
			if math.Float32bits(table[i]) == 0 {
				table[i] = 0
			}
		}
	})
}

// Sequence returns the numbers 0, 1, ..., n-1.
func Sequence[T int | uint32](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i)
	}
	return x
}

// Resize returns a slice of length n with any content, in the memory of x if the
// capacity of x suffices.
func Resize[T any](x []T, n int) []T {
	if n > cap(x) {
		return make([]T, n, n+n/4)
	}
	return x[:n]
}
