package machine

import (
	"math"

	"golang.org/x/sys/unix"
)

// AddressSpace returns the limit of this process's address space (ulimit -v) and how
// much of it is left, in bytes. limited is false if there is no limit. A process
// that reaches it gets no more memory, however much the machine has.
func AddressSpace() (limit, left int64, limited bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err != nil || r.Cur > math.MaxInt64 {
		return 0, 0, false
	}
	used := procValue("/proc/self/status", "VmSize:")
	return int64(r.Cur), max(int64(r.Cur)-used, 0), true
}

// limitByAddressSpace lowers total and available to the limit of the address space.
func limitByAddressSpace(total, available int64) (int64, int64) {
	limit, left, limited := AddressSpace()
	if !limited {
		return total, available
	}
	return min(total, limit), min(available, max(left, 1))
}
