//go:build !linux && !darwin

package machine

// FreeSpace returns false: the space is unknown on this system.
func FreeSpace(string) (bytes int64, ok bool) { return 0, false }
