//go:build !linux && !darwin && !windows

package train

// PeakRSS is not known on this system: 0.
func PeakRSS() int64 { return 0 }

// MachineMemory is not known on this system: 0, 0.
func MachineMemory() (total, available int64) { return 0, 0 }

// residentMemory returns about what this process has resident now, in bytes.
func residentMemory() int64 { return goResident() }
