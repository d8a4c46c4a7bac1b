package train

import "golang.org/x/sys/unix"

// PeakRSS returns the largest resident memory of this process so far, in
// bytes; 0 if it cannot be told.
func PeakRSS() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Maxrss // bytes on darwin
}

// MachineMemory returns the machine's memory in bytes, 0 if it cannot be told. What
// is available is not known here and 0.
func MachineMemory() (total, available int64) {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, 0
	}
	return int64(bytes), 0
}

// residentMemory returns about what this process has resident now, in bytes.
func residentMemory() int64 { return goResident() }
