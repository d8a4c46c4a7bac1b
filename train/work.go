package train

import (
	"math"

	"github.com/w2vcl/w2vcl/runfolder"
)

// A Limit ends a run after some amount of work; the learning rate decays over
// that work. The zero Limit is none.
type Limit struct {
	Seconds float64 // of training
	Pairs   float64 // positive and negative pairs trained
}

// Fraction is how much of a run of so many units is done, from 0 to 1.
func (l Limit) Fraction(p runfolder.Position, units int) float64 {
	switch {
	case l.Seconds > 0:
		return min(p.Seconds/l.Seconds, 1)
	case l.Pairs > 0:
		return min(p.Pairs/l.Pairs, 1)
	default:
		return float64(p.Units) / float64(units)
	}
}

// A work tells how much of a run is done: by units, or by the limit if it has
// one. It also tells when lines and observations are due that come at equal
// steps of the work.
type work struct {
	limit        Limit
	units        int
	Steps        int64 // that progress is shown in
	lines        int   // of metrics written
	observed     int
	observations int // 0: none
}

// newWork returns the work of a run of so many units, at the position it starts from, which is
// observed so many times.
func newWork(limit Limit, units, observations int, from runfolder.Position) *work {
	w := &work{limit: limit, units: units, Steps: int64(units), observations: observations}
	if limit != (Limit{}) {
		w.Steps = 1000
	}
	w.lines = int(w.Fraction(from) * runfolder.MetricsPerRun)
	w.observed = int(w.Fraction(from) * float64(w.observations))
	return w
}

// Fraction is how much of the run is done, from 0 to 1.
func (w *work) Fraction(p runfolder.Position) float64 { return w.limit.Fraction(p, w.units) }

// Done reports whether the run is done.
func (w *work) Done(p runfolder.Position) bool { return p.Units >= w.units || w.Fraction(p) >= 1 }

// Step is the work done in steps of progress.
func (w *work) Step(p runfolder.Position) int64 {
	if w.limit == (Limit{}) {
		return int64(p.Units)
	}
	return int64(w.Fraction(p) * float64(w.Steps))
}

// Scheduled returns the unit whose learning rate the i-th unit after a position
// has: with a limit, the one that is as far in the schedule as the work is done.
func (w *work) Scheduled(p runfolder.Position, i int) int {
	if w.limit == (Limit{}) {
		return p.Units + i
	}
	return int(w.Fraction(p) * float64(w.units))
}

// UntilDue returns how many units may be trained before the work must be looked
// at again.
func (w *work) UntilDue(p runfolder.Position) int {
	switch {
	case w.limit != (Limit{}):
		return 1
	case w.observations == 0:
		return math.MaxInt
	default:
		next := math.Ceil(float64(w.observed+1) / float64(w.observations) * float64(w.units))
		return max(1, int(next)-p.Units)
	}
}

// LineDue reports whether a line of metrics is due. Without a limit the
// recorder counts units itself.
func (w *work) LineDue(p runfolder.Position) bool {
	return w.limit != (Limit{}) && w.passed(p, &w.lines, runfolder.MetricsPerRun)
}

// ObservationDue reports whether an observation is due.
func (w *work) ObservationDue(p runfolder.Position) bool {
	return w.observations > 0 && w.passed(p, &w.observed, w.observations)
}

// passed reports whether the work has come past the next of so many marks.
func (w *work) passed(p runfolder.Position, last *int, marks int) bool {
	mark := int(w.Fraction(p) * float64(marks))
	if w.Done(p) {
		mark = marks
	}
	due := mark > *last
	*last = mark
	return due
}
