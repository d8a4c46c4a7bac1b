// Package machine asks the operating system about this process and its machine:
// memory in use and available, space on a disk, the processor. An unknown answer is
// 0 or "", never an error.
//
// Start at [Memory] and [Describe]. Each question has a file for every system
// that answers it (_linux, _darwin, _windows) and one for all others (_other).
package machine

import "runtime"

// Hardware describes the parts of a machine on which a measurement of speed depends.
type Hardware struct {
	Processor string  // model name; "": unknown
	Load      float64 // load average of the last minute, of all processes; -1: unknown
}

// Describe returns the hardware of this machine and its load now.
func Describe() Hardware {
	h := Hardware{Load: -1}
	h.ask()
	return h
}

// goResident returns the bytes that Go's runtime has taken from the system. That is
// about the resident memory of the process without mapped files.
func goResident() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys - stats.HeapReleased)
}
