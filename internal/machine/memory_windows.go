package machine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	getProcessMemoryInfo = kernel32.NewProc("K32GetProcessMemoryInfo")
	globalMemoryStatusEx = kernel32.NewProc("GlobalMemoryStatusEx")
)

// processMemoryCounters is PROCESS_MEMORY_COUNTERS.
type processMemoryCounters struct {
	size, pageFaults                 uint32
	peakWorkingSet, workingSet       uintptr
	quotaPeakPaged, quotaPaged       uintptr
	quotaPeakNonPaged, quotaNonPaged uintptr
	pagefile, peakPagefile           uintptr
}

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	size, load                               uint32
	total, available                         uint64
	totalPage, availablePage                 uint64
	totalVirtual, availableVirtual, extended uint64
}

// PeakRSS returns the largest resident memory of this process so far in bytes,
// or 0 if the system does not know.
func PeakRSS() int64 {
	var counters processMemoryCounters
	counters.size = uint32(unsafe.Sizeof(counters))
	ok, _, _ := getProcessMemoryInfo.Call(uintptr(windows.CurrentProcess()),
		uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
	if ok == 0 {
		return 0
	}
	return int64(counters.peakWorkingSet)
}

// Memory returns the machine's memory and the available part of it in bytes, or
// 0 if the system does not know.
func Memory() (total, available int64) {
	var status memoryStatus
	status.size = uint32(unsafe.Sizeof(status))
	ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status)))
	if ok == 0 {
		return 0, 0
	}
	return int64(status.total), int64(status.available)
}

// Resident returns about the resident memory of this process now, in bytes.
func Resident() int64 { return goResident() }
