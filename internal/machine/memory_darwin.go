package machine

import "golang.org/x/sys/unix"

// PeakRSS returns the largest resident memory of this process so far in bytes,
// or 0 if the system does not know.
func PeakRSS() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Maxrss // bytes on darwin
}

// Memory returns the machine's memory in bytes, or 0 if the system does not know.
// available is always 0, for unknown.
func Memory() (total, available int64) {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, 0
	}
	return int64(bytes), 0
}

// Resident returns about how many bytes this process has resident now.
func Resident() int64 { return goResident() }
