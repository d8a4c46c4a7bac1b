//go:build !linux && !darwin && !windows

package machine

// PeakRSS returns 0, for unknown.
func PeakRSS() int64 { return 0 }

// Memory returns 0, 0, for unknown.
func Memory() (total, available int64) { return 0, 0 }

// Resident returns about the resident memory of this process now, in bytes.
func Resident() int64 { return goResident() }
