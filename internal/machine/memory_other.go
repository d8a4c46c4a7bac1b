//go:build !linux && !darwin && !windows

package machine

// PeakRSS is not known on this system: 0.
func PeakRSS() int64 { return 0 }

// Memory is not known on this system: 0, 0.
func Memory() (total, available int64) { return 0, 0 }

// Resident returns about how many bytes this process has resident now.
func Resident() int64 { return goResident() }
