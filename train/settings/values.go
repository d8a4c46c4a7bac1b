package settings

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// An Interval says how often something is done: after units or after seconds
// of training. The zero Interval is never.
type Interval struct {
	Units   int
	Seconds float64
	Keep    bool // also at the end, for 'w2vcl resume --iterations'

	text string // as it was given, if it was
}

// UnmarshalText reads a number of units (1000), a time (10m), 0 for never, or keep, for 10m and the end.
func (i *Interval) UnmarshalText(text []byte) error {
	bad := errors.New("give a time (10m, 90s), a number of iterations, 0 to save only when interrupted, or keep")
	read := Interval{text: string(text)}
	if read.text == "keep" {
		read.Seconds, read.Keep = 600, true
	} else if units, err := strconv.Atoi(read.text); err == nil {
		if units < 0 {
			return bad
		}
		read.Units = units
	} else {
		d, err := time.ParseDuration(read.text)
		if err != nil || d < 0 {
			return bad
		}
		read.Seconds = d.Seconds()
	}
	*i = read
	return nil
}

// String returns the text that the interval was read from.
func (i Interval) String() string {
	switch {
	case i.text != "":
		return i.text
	case i.Seconds > 0:
		return time.Duration(i.Seconds * float64(time.Second)).String()
	default:
		return strconv.Itoa(i.Units)
	}
}

// A Size is an amount of memory, or a share of the machine's. The zero Size is
// none.
type Size struct {
	bytes    float64
	fraction float64 // of the machine's memory, from 0 to 1

	text string
}

// sizeUnits are decimal unless they say "i", like the figures that w2vcl prints.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"b", 1},
}

// ParseSize reads an amount of memory (4GB, 1.5GiB) or a share of the machine's
// (75%). The empty text is the zero Size.
func ParseSize(text string) (s Size, err error) {
	err = s.UnmarshalText([]byte(text))
	return s, err
}

// UnmarshalText reads what [ParseSize] reads.
func (s *Size) UnmarshalText(text []byte) error {
	read := Size{text: string(text)}
	number, unit, share := strings.ToLower(read.text), 0.0, false
	if number == "" {
		*s = Size{}
		return nil
	}
	if rest, ok := strings.CutSuffix(number, "%"); ok {
		number, unit, share = rest, 0.01, true
	}
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok && unit == 0 {
			number, unit = rest, u.bytes
		}
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || unit == 0 || !(value > 0) || math.IsInf(value, 0) {
		return errors.New("give an amount such as 4GB or 500MB, or a part of the machine's memory such as 75%")
	}
	if share {
		read.fraction = value * unit
	} else {
		read.bytes = value * unit
	}
	*s = read
	return nil
}

// String returns the text that the size was read from.
func (s Size) String() string { return s.text }

// IsZero reports whether no size was given.
func (s Size) IsZero() bool { return s == Size{} }

// Bytes returns the size on a machine with the given memory; 0 is unknown, and
// an error if the size is a share of it.
func (s Size) Bytes(machine int64) (int64, error) {
	if s.fraction > 0 && machine == 0 {
		return 0, errors.New("the memory of this machine is not known: give an amount such as 4GB")
	}
	return int64(min(s.bytes+s.fraction*float64(machine), math.MaxInt64/2)), nil
}

// Numbers are whole numbers from 1 up: widths of a CNN's filters in symbols, how many there are, or characters of symbols.
type Numbers []int

// UnmarshalText reads a list such as "2,3,4" or "1-3,5".
func (n *Numbers) UnmarshalText(text []byte) error {
	const most = 1 << 10
	var numbers Numbers
	for part := range strings.SplitSeq(string(text), ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(strings.TrimSpace(from))
		last := first
		if ranged && err == nil {
			last, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || first < 1 || last < first || last-first >= most {
			return errors.New("give whole numbers from 1 up, with commas between, or a range: 2,3,4 or 2-4")
		}
		for number := first; number <= last; number++ {
			numbers = append(numbers, number)
		}
	}
	*n = numbers
	return nil
}

// String returns the list with commas.
func (n Numbers) String() string {
	texts := make([]string, len(n))
	for i, number := range n {
		texts[i] = strconv.Itoa(number)
	}
	return strings.Join(texts, ",")
}
