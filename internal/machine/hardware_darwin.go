package machine

import "golang.org/x/sys/unix"

// ask reads the system's variables. The load stays unknown.
func (h *Hardware) ask() {
	if name, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil {
		h.Processor = name
	}
}
