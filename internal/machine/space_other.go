//go:build !linux && !darwin

package machine

// FreeSpace is not known on this system.
func FreeSpace(string) (bytes int64, ok bool) { return 0, false }
