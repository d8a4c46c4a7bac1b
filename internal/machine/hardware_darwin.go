package machine

import "golang.org/x/sys/unix"

// ask reads the system's variables. Apple's own processors name their largest
// second-level cache; the system names no third level for them.
func (h *Hardware) ask() {
	if name, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil {
		h.Processor = name
	}
	h.L2 = sysctlBytes("hw.perflevel0.l2cachesize", "hw.l2cachesize")
	h.Cache = max(sysctlBytes("hw.l3cachesize"), h.L2)
}

// sysctlBytes returns the first of the variables that exists, or 0.
func sysctlBytes(names ...string) int64 {
	for _, name := range names {
		if bytes, err := unix.SysctlUint64(name); err == nil && bytes > 0 {
			return int64(bytes)
		}
	}
	return 0
}
