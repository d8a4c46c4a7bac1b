package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// An axis maps values to a line from one pixel to another.
type axis struct {
	low, high  float64 // values at start and end
	start, end float64 // pixels
	log        bool
	ticks      []float64
}

// newAxis returns an axis that spans all values and has about the given number of
// ticks, at round numbers. A logarithmic axis has ticks at powers of two if it is short
// and its values are small, as sizes of batches are; else at powers of ten. Values
// that are no numbers are left out; without values the axis goes from 0 to 1, or
// from 1 to 2 if it is logarithmic.
func newAxis(values []float64, start, end float64, ticks int, log bool) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), start: start, end: end, log: log}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 {
			continue
		}
		a.low, a.high = min(a.low, v), max(a.high, v)
	}
	if a.low > a.high {
		a.low, a.high = 0, 1
		if log {
			a.low, a.high = 1, 2
		}
	}
	switch {
	case log && (a.high > mostOfTwo || a.high/a.low > spanOfTwo):
		a.setDecades(ticks)
	case log:
		a.setPowers(ticks)
	default:
		a.setRound(ticks)
	}
	return a
}

// setRound widens the axis to multiples of a round step.
func (a *axis) setRound(ticks int) {
	if a.low == a.high { // one value: a margin on both sides
		margin := max(math.Abs(a.low)/10, 1e-3)
		a.low, a.high = a.low-margin, a.high+margin
	}
	step := roundStep((a.high - a.low) / float64(ticks))
	first, last := math.Floor(a.low/step+1e-9), math.Ceil(a.high/step-1e-9)
	for i := first; i <= last; i++ {
		a.ticks = append(a.ticks, i*step)
	}
	a.low, a.high = first*step, last*step
}

// setPowers widens the axis to powers of two.
func (a *axis) setPowers(ticks int) {
	first, last := math.Floor(math.Log2(a.low)), math.Ceil(math.Log2(a.high))
	if first == last {
		first, last = first-1, last+1
	}
	step := math.Ceil((last - first) / float64(ticks))
	for e := first; e <= last; e += step {
		a.ticks = append(a.ticks, math.Exp2(e))
	}
	a.low, a.high = math.Exp2(first), math.Exp2(last)
}

// An axis of powers of two has no values above mostOfTwo, of which people know the digits, and
// spans at most spanOfTwo.
const (
	mostOfTwo = 1 << 20
	spanOfTwo = 1 << 12
)

// setDecades widens the axis to 1, 2 or 5 times powers of ten, which are its ticks; if these are
// too many, powers of ten.
func (a *axis) setDecades(ticks int) {
	var all []float64
	for e := math.Floor(math.Log10(a.low)); len(all) == 0 || all[len(all)-1] < a.high*(1-1e-9); e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if len(all) > 0 && v <= a.low*(1+1e-9) {
				all = all[:0] // it begins later
			}
			if len(all) == 0 || all[len(all)-1] < a.high*(1-1e-9) {
				all = append(all, v)
			}
		}
	}
	a.low, a.high = all[0], all[len(all)-1]
	if len(all) > ticks+2 {
		powers := slices.DeleteFunc(slices.Clone(all), func(v float64) bool {
			e := math.Log10(v)
			return math.Abs(e-math.Round(e)) > 1e-6
		})
		all = all[:0]
		for i := 0; i < len(powers); i += (len(powers) + ticks) / (ticks + 1) { // every k-th of many
			all = append(all, powers[i])
		}
	}
	a.ticks = all
}

// roundStep returns the smallest of 1, 2, 2.5 and 5 times a power of ten that
// is not below step.
func roundStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// at returns the pixel of a value.
func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log2(v), math.Log2(low), math.Log2(high)
	}
	return a.start + (v-low)/(high-low)*(a.end-a.start)
}

// label writes the value of a tick with enough digits to tell ticks apart.
func (a axis) label(v float64) string {
	if a.log && v >= 1 && a.high <= mostOfTwo && (v < 1e4 || a.high/a.low <= spanOfTwo) {
		return strconv.FormatFloat(v, 'f', 0, 64) // people know powers of two by all their digits
	}
	if a.log || len(a.ticks) < 2 {
		return Short(v)
	}
	step := a.ticks[1] - a.ticks[0]
	if math.Abs(v) < step/1e6 {
		return "0"
	}
	if largest := max(math.Abs(a.low), math.Abs(a.high)); largest >= 1e4 {
		return Short(v)
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if scaled := step * math.Pow(10, float64(digits)); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
		digits++ // a step of 2.5
	}
	return terminal.Minus(strconv.FormatFloat(v, 'f', digits, 64))
}

// Short writes a number with up to three digits and a letter, B for a billion: 1.25k,
// 16M. A negative one has a minus, U+2212.
func Short(v float64) string {
	size, prefix := math.Abs(v), ""
	for _, p := range []string{"k", "M", "B", "T"} {
		if size < 999.5 {
			break
		}
		size, v, prefix = size/1000, v/1000, p
	}
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if strings.Contains(text, "e") {
		text = strconv.FormatFloat(v, 'f', 0, 64)
		if size < 1 {
			text = strconv.FormatFloat(v, 'g', 2, 64)
		}
	}
	return terminal.Minus(text + prefix)
}
