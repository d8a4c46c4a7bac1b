package lead

import (
	"time"

	"github.com/w2vcl/w2vcl/train/trainer"
)

// Iterations are the units of a [Member] that can stop after each, and that trains some of them in one order.
type Iterations struct {
	each time.Duration // of the last order
}

// The most iterations of an order, and about how long they may take: signals are seen between two orders.
const (
	mostIterations = 32
	orderTime      = 200 * time.Millisecond
)

// SeriesLength returns how many iterations fit between two looks at signals.
func (s *Iterations) SeriesLength() int {
	if s.each == 0 {
		return 1
	}
	return int(min(max(orderTime/s.each, 1), mostIterations))
}

// PausesAfter is true: ranks can stop after each iteration.
func (s *Iterations) PausesAfter(int) bool { return true }

// Train trains one iteration for each of the rates.
func (s *Iterations) Train(first int, rates []float64, one func(number int, rate float64) (trainer.Report, error)) (reports []trainer.Report, err error) {
	start := time.Now()
	for i, rate := range rates {
		report, err := one(first+i, rate)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	s.each = max(time.Since(start)/time.Duration(len(rates)), 1)
	return reports, nil
}
