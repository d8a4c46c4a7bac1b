package machine

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// ask reads /proc and /sys. A value that they lack stays unknown.
func (h *Hardware) ask() {
	h.Processor = modelName("/proc/cpuinfo")
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

// firstLine returns the first line of a small file, "" if it cannot be read.
func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
