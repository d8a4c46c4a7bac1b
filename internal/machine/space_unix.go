//go:build linux || darwin

package machine

import "golang.org/x/sys/unix"

// FreeSpace returns the free space for this user on the disk of path, in bytes. ok
// is false if the system does not know.
func FreeSpace(path string) (bytes int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail * uint64(s.Bsize)), true
}
