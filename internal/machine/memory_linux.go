package machine

import (
	"bufio"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PeakRSS returns the largest resident memory of this process so far in bytes,
// or 0 if the system does not know.
//
// getrusage is only the fallback. Its maximum survives exec, so a small program
// would report the memory of a big one that started it.
func PeakRSS() int64 {
	if peak := procValue("/proc/self/status", "VmHWM:"); peak > 0 {
		return peak
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return int64(usage.Maxrss) * 1024
}

// Resident returns the resident memory of this process now, in bytes.
func Resident() int64 {
	if resident := procValue("/proc/self/status", "VmRSS:"); resident > 0 {
		return resident
	}
	return goResident()
}

// Memory returns the machine's memory and the available part of it in bytes, or
// 0 if the system does not know; 1 if nothing is available. Neither exceeds the limit
// of the control group (a container, a batch job) or of the address space (ulimit -v).
func Memory() (total, available int64) {
	total, available = procValue("/proc/meminfo", "MemTotal:"), procValue("/proc/meminfo", "MemAvailable:")
	return limitByAddressSpace(limitByGroups("/", total, available))
}

// procValue reads a line such as "VmHWM:   1234 kB".
func procValue(file, key string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[0] == key {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes * 1024
		}
	}
	return 0
}

// groupFiles names the files in which a version of control groups keeps its
// limits of memory.
type groupFiles struct {
	mount, limit, usage string
	prefix              string // of the keys of memory.stat that count the groups below, too
}

var (
	groupsV1 = groupFiles{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}
	groupsV2 = groupFiles{"sys/fs/cgroup", "memory.max", "memory.current", ""}
)

// limitByGroups lowers total and available to the limits of this process's
// control group and of all groups above it. root is "/"; tests use a folder.
func limitByGroups(root string, total, available int64) (int64, int64) {
	list, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return total, available
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(fields) != 3 {
			continue
		}
		files := groupsV1
		switch {
		case fields[0] == "0" && fields[1] == "":
			files = groupsV2
		case !slices.Contains(strings.Split(fields[1], ","), "memory"):
			continue
		}
		// In a container this may be the host's path. Then only the mount itself
		// exists; it is the container's own group.
		for group := path.Join("/", fields[2]); ; group = path.Dir(group) {
			folder := path.Join(root, files.mount, group)
			if limit, ok := groupValue(path.Join(folder, files.limit)); ok && limit < total {
				usage, _ := groupValue(path.Join(folder, files.usage))
				free := limit - usage + pagesOfFiles(path.Join(folder, "memory.stat"), files.prefix)
				total, available = limit, max(min(available, free), 1)
			}
			if group == "/" {
				break
			}
		}
	}
	return total, available
}

// groupValue reads a file that holds one number. ok is false for "max", which means
// no limit.
func groupValue(file string) (value int64, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// pagesOfFiles sums up the pages of files in memory.stat: the system counts them as used but gives
// them up when a process asks for memory, the inactive ones first.
func pagesOfFiles(file, prefix string) (bytes int64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && (fields[0] == prefix+"inactive_file" || fields[0] == prefix+"active_file") {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			bytes += n
		}
	}
	return bytes
}
