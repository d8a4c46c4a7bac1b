//go:build linux || darwin

package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// canHold says that hold works here, and that an open file can be renamed.
const canHold = true

// hold locks a temporary file until it is closed or the process ends, however it ends.
// It reports whether the file is still there under its name: another process may have
// taken it for a stray one before it was locked. Where the file system has no locks,
// nobody takes it.
func hold(f *os.File) bool {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return true
	}
	return isSame(f)
}

// lockFolder makes processes that rename several files in a folder do so one after the other.
func lockFolder(dir string) (unlock func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX) // where the file system has no locks, they take their chance
	return func() { f.Close() }
}

// removeIfStray removes a temporary file that no process holds.
func removeIfStray(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && isSame(f) {
		os.Remove(path)
	}
}

// isSame reports whether an open file has its name still.
func isSame(f *os.File) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(ours, there)
}
