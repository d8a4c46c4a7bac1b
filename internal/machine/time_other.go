//go:build !linux && !darwin

package machine

import "time"

// ProcessorTime returns false: nobody asked this system yet.
func ProcessorTime() (t time.Duration, ok bool) { return 0, false }
