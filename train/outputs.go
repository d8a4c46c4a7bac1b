package train

import "path/filepath"

// absolute makes a recorded path independent of the working folder.
func absolute(path string) string {
	if path == "" || path == "-" {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
