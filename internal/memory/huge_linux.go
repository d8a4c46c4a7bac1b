package memory

import "golang.org/x/sys/unix"

// useHugePages asks for large pages. Without them all works as before, only slower,
// so an error does not matter.
func useHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
