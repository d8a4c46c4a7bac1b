package memory

import "golang.org/x/sys/unix"

// useHugePages asks for large pages. A system that has none works as before,
// only slower, so the answer does not matter.
func useHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
