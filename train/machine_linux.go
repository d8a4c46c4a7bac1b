package train

import (
	"bufio"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// PeakRSS returns the largest resident memory of this process so far, in
// bytes; 0 if it cannot be told.
//
// getrusage is only the fallback: its maximum survives exec, so a small
// program started by a big one would report the big one's memory.
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

// residentMemory returns what this process has resident now, in bytes.
func residentMemory() int64 {
	if resident := procValue("/proc/self/status", "VmRSS:"); resident > 0 {
		return resident
	}
	return goResident()
}

// MachineMemory returns the machine's memory and how much of it is available,
// in bytes; 0 if it cannot be told. In a control group (a container, a batch
// job) both are at most what the group allows.
func MachineMemory() (total, available int64) {
	total, available = procValue("/proc/meminfo", "MemTotal:"), procValue("/proc/meminfo", "MemAvailable:")
	return limitByGroups("/", total, available)
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

// groupFiles are where a version of control groups keeps memory limits.
type groupFiles struct {
	mount, limit, usage, inactive string
}

var (
	groupsV1 = groupFiles{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	groupsV2 = groupFiles{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
)

// limitByGroups lowers total and available to what the control groups of this
// process allow, its own and all above it. root is "/" but in tests.
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
		case fields[1] != "memory":
			continue
		}
		// In a container the path may be that of the host; then only the
		// mount itself, the container's own group, is there.
		for group := path.Join("/", fields[2]); ; group = path.Dir(group) {
			folder := path.Join(root, files.mount, group)
			if limit, ok := groupValue(path.Join(folder, files.limit)); ok && limit < total {
				usage, _ := groupValue(path.Join(folder, files.usage))
				free := limit - usage + groupStat(path.Join(folder, "memory.stat"), files.inactive)
				total, available = limit, max(min(available, free), 0)
			}
			if group == "/" {
				break
			}
		}
	}
	return total, available
}

// groupValue reads a file that holds one number. The word max, for no limit, is
// none.
func groupValue(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// groupStat reads one line of memory.stat. Pages of files that nobody has used
// lately count as used but are given up when memory is asked for.
func groupStat(file, key string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == key {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			return n
		}
	}
	return 0
}
