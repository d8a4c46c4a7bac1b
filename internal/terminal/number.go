package terminal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Number formats a whole number with commas: 16,703,251.
func Number[T int | int64 | uint64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Quantity joins a number and its noun, which stays singular for 1: "1 epoch",
// "3 epochs".
func Quantity(number, noun string) string {
	if number != "1" {
		noun += "s"
	}
	return number + " " + noun
}

// Bytes formats a number of bytes with three digits and a decimal prefix: 1.21 GB.
func Bytes(n int64) string {
	digits, prefix := scaled(float64(n))
	return digits + " " + prefix + "B"
}

// Rate formats a number, such as pairs a second, with three digits and a decimal
// prefix: 12.3M.
func Rate(x float64) string {
	digits, prefix := scaled(x)
	return digits + prefix
}

// scaled returns three significant digits of x and their decimal prefix: "12.3",
// "M".
func scaled(x float64) (digits, prefix string) {
	for _, p := range []string{"k", "M", "G", "T"} {
		if x < 999.5 {
			break
		}
		x, prefix = x/1000, p
	}
	switch {
	case x >= 99.95 || x == float64(int(x)):
		return fmt.Sprintf("%.0f", x), prefix
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x), prefix
	default:
		return fmt.Sprintf("%.2f", x), prefix
	}
}

// Duration formats seconds as people say them: "0.4 s", "23 s", "4 min 10 s",
// "3 h 5 min".
func Duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case seconds < 0.001:
		return fmt.Sprintf("%.0f µs", seconds*1e6)
	case seconds < 0.1:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 60:
		return fmt.Sprintf("%.0f s", seconds)
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 72*time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
}

// Minus writes the sign of negative numbers in a text as a minus (U+2212), which is as
// wide as a plus; hyphens in words and exponents stay.
func Minus(text string) string { return hyphenSign().ReplaceAllString(text, "$1−$2") }

var hyphenSign = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[ (])-([0-9.])`) })

// Sizes are bytes for several purposes.
type Sizes []struct {
	Name  string
	Bytes int64
}

// Sum returns the sum of the bytes.
func (s Sizes) Sum() (sum int64) {
	for _, part := range s {
		sum += part.Bytes
	}
	return sum
}

// String lists those that are not zero.
func (s Sizes) String() string {
	var parts []string
	for _, part := range s {
		if part.Bytes > 0 {
			parts = append(parts, part.Name+" "+Bytes(part.Bytes))
		}
	}
	return strings.Join(parts, ", ")
}
