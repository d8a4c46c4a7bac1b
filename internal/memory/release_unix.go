//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Release takes a part of a mapped file out of the memory of this process: the whole
// pages that it touches. The system keeps them as long as it has memory for them, and
// reads what it dropped again. An error does not matter: then pages stay.
func Release(part []byte) {
	if len(part) == 0 {
		return
	}
	page := uintptr(unix.Getpagesize())
	first := unsafe.Pointer(unsafe.SliceData(part))
	before := uintptr(first) % page
	length := (before + uintptr(len(part)) + page - 1) / page * page
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(first, -int(before))), length), unix.MADV_DONTNEED)
}
