//go:build !linux

package memory

// Release gives the memory of a part of a mapped file back to the system, where the
// system can be told so. Elsewhere the system takes it back when memory is short.
func Release([]byte) {}

// Discard does nothing here.
func Discard([]byte) {}
