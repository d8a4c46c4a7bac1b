//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package memory

// Release does nothing: MapFile has read the file into memory.
func Release([]byte) {}
