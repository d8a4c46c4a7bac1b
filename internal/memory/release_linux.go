package memory

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Release gives the memory of a part of a mapped file back to the system. Who reads it
// again gets the same bytes, from the system's cache or the disk.
func Release(b []byte) {
	if len(b) == 0 {
		return
	}
	page := os.Getpagesize()
	// Whole pages, both ends rounded down: the part behind begins with the page that
	// this one ends in. The mapping begins with a page.
	before := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(page))
	length := (before + len(b)) &^ (page - 1)
	if length > 0 {
		start := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -before))
		_ = unix.Madvise(unsafe.Slice(start, length), unix.MADV_DONTNEED)
	}
}

// Discard gives the memory of b back to the system, but for its first and last pages. Its
// content is lost: nobody may read it again.
func Discard(b []byte) {
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if length := (len(b) - skip) &^ (page - 1); length > 0 {
		_ = unix.Madvise(b[skip:skip+length], unix.MADV_DONTNEED)
	}
}
