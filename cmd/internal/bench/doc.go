// Package bench measures how fast w2vcl works on this machine: training steps on
// the CPU or a GPU, the matrix M, reading text, and evaluation. It returns numbers;
// the command line shows them.
//
// Start at [MeasureStep] (step.go). Beside each of its times stands the speed at
// which the same threads copied memory just before and after ([Copier], in
// bandwidth.go). A step cannot be faster than memory. Its share of the speed of
// copying can be compared between machines; its time cannot.
//
// All inputs follow from a seed. Measurements are repeated, and a [Measurement]
// keeps the median and the extremes of the repetitions.
package bench

import (
	"slices"
	"time"
)

// Effort says how much to measure.
type Effort struct {
	Time   time.Duration // of one repetition, at least: work is not cut short
	Repeat int           // repetitions, at least 1
}

// A Measurement sums up repetitions.
type Measurement struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Runs   int     `json:"runs"`
}

// Measured sums up the values of repetitions, and sorts them. Without values it
// returns the zero Measurement.
func Measured(values []float64) Measurement {
	n := len(values)
	if n == 0 {
		return Measurement{}
	}
	slices.Sort(values)
	return Measurement{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1], n}
}

// Spread is the distance of the extremes, as a share of the median.
func (m Measurement) Spread() float64 {
	if m.Median == 0 {
		return 0
	}
	return (m.Max - m.Min) / m.Median
}

// rate divides an amount by seconds. It is 0 if the clock was too coarse to see any
// time pass.
func rate(amount, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return amount / seconds
}
