package train

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PeakRSS returns the largest resident memory of this process so far, in
// bytes; 0 if it cannot be told.
//
// getrusage is only the fallback: its maximum survives exec, so a small
// program started by a big one would report the big one's memory.
func PeakRSS() int64 {
	if peak := procValue("/proc/self/status", "VmHWM:"); peak > 0 {
		return peak
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return int64(usage.Maxrss) * 1024
}

// MachineMemory returns the machine's memory and how much of it is available, in
// bytes; 0 if it cannot be told.
func MachineMemory() (total, available int64) {
	return procValue("/proc/meminfo", "MemTotal:"), procValue("/proc/meminfo", "MemAvailable:")
}

// procValue reads a line such as "VmHWM:   1234 kB".
func procValue(file, key string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] == key {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes * 1024
		}
	}
	return 0
}
