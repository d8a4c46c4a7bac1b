package testfiles

import (
	"os"

	"github.com/w2vcl/w2vcl/internal/machine"
)

const (
	folder = "/dev/shm" // where Linux keeps files in memory; other systems do not have it
	needed = 2 << 30    // bytes: far more than tests take at a time
)

// InMemory makes the temporary folders of this process and its children folders in memory, if there is room for them:
// tests of whole runs write thousands of small files, and wait for the disk to confirm each. It keeps to TMPDIR if that is set;
// TMPDIR=/tmp brings them back to the disk.
func InMemory() {
	if free, ok := machine.FreeSpace(folder); os.Getenv("TMPDIR") != "" || !ok || free < needed {
		return
	}
	if probe, err := os.MkdirTemp(folder, ""); err != nil || os.Remove(probe) != nil {
		return
	}
	_ = os.Setenv("TMPDIR", folder) // both are valid
}
