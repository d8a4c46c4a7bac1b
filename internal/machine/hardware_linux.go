package machine

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ask reads /proc and /sys. A value that they lack stays unknown.
func (h *Hardware) ask() {
	h.Processor = modelName("/proc/cpuinfo")
	h.L2, h.Cache = caches("/sys/devices/system/cpu")
	if fields := strings.Fields(firstLine("/proc/loadavg")); len(fields) > 0 {
		if load, err := strconv.ParseFloat(fields[0], 64); err == nil {
			h.Load = load
		}
	}
}

// modelName returns the first processor's model; "" on arm64, which has none.
func modelName(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// caches returns the bytes of one second-level cache and of all caches of the
// last level together. A cache appears in the folder of each processor that
// shares it; the list of sharers identifies it.
func caches(folder string) (l2, last int64) {
	type cache struct {
		level  int
		shared string
	}
	sizes := map[cache]int64{}
	top := 0
	found, _ := filepath.Glob(filepath.Join(folder, "cpu[0-9]*", "cache", "index[0-9]*")) // the pattern is good
	for _, at := range found {
		level, err := strconv.Atoi(firstLine(filepath.Join(at, "level")))
		if err != nil || firstLine(filepath.Join(at, "type")) == "Instruction" {
			continue
		}
		size := cacheSize(firstLine(filepath.Join(at, "size")))
		sizes[cache{level, firstLine(filepath.Join(at, "shared_cpu_list"))}] = size
		if level == 2 {
			l2 = max(l2, size)
		}
		top = max(top, level)
	}
	for c, size := range sizes {
		if c.level == top && top > 1 {
			last += size
		}
	}
	return l2, last
}

// cacheSize reads a size such as 36608K; other text gives 0.
func cacheSize(text string) int64 {
	unit := int64(1)
	switch {
	case strings.HasSuffix(text, "K"):
		unit = 1 << 10
	case strings.HasSuffix(text, "M"):
		unit = 1 << 20
	case strings.HasSuffix(text, "G"):
		unit = 1 << 30
	}
	number, err := strconv.ParseInt(strings.TrimRight(text, "KMG"), 10, 64)
	if err != nil || number < 0 {
		return 0
	}
	return number * unit
}

// firstLine returns the first line of a small file, "" if it cannot be read.
func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
