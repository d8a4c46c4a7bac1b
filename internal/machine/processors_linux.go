package machine

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Processors returns how many processors the host has, also those that this process may
// not use.
func Processors() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if n := countList(string(text)); err == nil && n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// countList counts the numbers of a list such as 0-3,7; 0 if it is none.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || last < first {
			return 0
		}
		n += last - first + 1
	}
	return n
}
