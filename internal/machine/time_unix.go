//go:build linux || darwin

package machine

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the time that all threads of this process have had a processor until now. ok is false if the system does not
// know.
func ProcessorTime() (t time.Duration, ok bool) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}
