package bench

import "golang.org/x/sys/unix"

// ask reads the system's variables. Apple's own processors name their largest
// second-level cache and have no third level that the system tells of.
func (m *Machine) ask() {
	if name, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil {
		m.Processor = name
	}
	m.L2 = sysctlBytes("hw.perflevel0.l2cachesize", "hw.l2cachesize")
	m.Cache = max(sysctlBytes("hw.l3cachesize"), m.L2)
}

// sysctlBytes returns the first of the variables that is there, or 0.
func sysctlBytes(names ...string) int64 {
	for _, name := range names {
		if bytes, err := unix.SysctlUint64(name); err == nil && bytes > 0 {
			return int64(bytes)
		}
	}
	return 0
}
