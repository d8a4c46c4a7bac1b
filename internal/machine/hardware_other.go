//go:build !linux && !darwin && !windows

package machine

// ask learns nothing on this system.
func (h *Hardware) ask() {}
