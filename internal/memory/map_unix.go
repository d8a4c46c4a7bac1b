//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package memory

import (
	"fmt"
	"os"
	"syscall"
)

// MapFile maps the whole file into memory, read-only.
func MapFile(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	if int64(int(size)) != size {
		return nil, nil, fmt.Errorf("%d bytes are more than this processor can address", size)
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot map the file into memory: %w", err)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
