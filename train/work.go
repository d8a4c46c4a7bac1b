package train

import (
	"math"

	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A limit ends a run after some amount of work; the learning rate decays over
// that work. The zero limit is none.
type limit trainer.Budget

// limit returns what ends the run, if its number of units does not. Building M counts.
func (j *job) limit() limit {
	const least = 1e-3 // the first unit is always trained
	l := limit(j.config.Budget)
	switch {
	case j.config.InIterations():
		return limit{}
	case l.Kind == trainer.BudgetSeconds:
		l.Amount = max(l.Amount-j.secondsMatrix, least)
	}
	return l
}

// of returns the fraction of the limit that these seconds, pairs and words are.
func (l limit) of(seconds, pairs, words float64) float64 {
	switch l.Kind {
	case trainer.BudgetSeconds:
		return seconds / l.Amount
	case trainer.BudgetPairs:
		return pairs / l.Amount
	default:
		return words / l.Amount
	}
}

// Units estimates the units of a run that has this many units without a limit. One unit takes the given seconds, pairs and words.
func (l limit) Units(units int, seconds, pairs, words float64) int {
	if l == (limit{}) {
		return units
	}
	return int(min(max(math.Round(1/l.of(seconds, pairs, words)), 1), float64(units)))
}

// A work tells how much of a run is done: by units, or by the limit if it has
// one. It also tells when lines and observations are due that come at equal
// steps of the work.
type work struct {
	limit        limit
	units        int
	Steps        int64 // that progress is shown in
	lines        int   // of metrics written
	observed     int
	observations int // 0: none
}

// newWork returns the work of a run of so many units, at the position it starts from, which is
// observed so many times.
func newWork(l limit, units, observations int, from runfolder.Position) *work {
	w := &work{limit: l, units: units, Steps: int64(units), observations: observations}
	if l != (limit{}) {
		w.Steps = 1000
	}
	w.lines = int(w.Fraction(from) * runfolder.MetricsPerRun)
	w.observed = int(w.Fraction(from) * float64(w.observations))
	return w
}

// Fraction is how much of the run is done, from 0 to 1.
func (w *work) Fraction(p runfolder.Position) float64 {
	if w.limit == (limit{}) {
		return float64(p.Units) / float64(w.units)
	}
	return min(w.limit.of(p.Seconds, p.Pairs, p.Words), 1)
}

// Done reports whether the run is done. A limit is nearest at the end of a unit, of which some are long: another one
// is not begun if more than half of it would lie beyond the limit.
func (w *work) Done(p runfolder.Position) bool {
	if p.Units >= w.units || w.limit == (limit{}) {
		return p.Units >= w.units
	}
	unit := w.Fraction(p) / float64(max(p.Units, 1))
	return w.Fraction(p)+unit/2 >= 1
}

// Step is the work done in steps of progress.
func (w *work) Step(p runfolder.Position) int64 {
	if w.limit == (limit{}) {
		return int64(p.Units)
	}
	return int64(w.Fraction(p) * float64(w.Steps))
}

// Scheduled returns the unit whose learning rate the i-th unit after a position
// has: with a limit, the one that is as far in the schedule as the work is done.
func (w *work) Scheduled(p runfolder.Position, i int) int {
	if w.limit == (limit{}) {
		return p.Units + i
	}
	return int(w.Fraction(p) * float64(w.units))
}

// UntilDue returns how many units may be trained before the work must be looked
// at again.
func (w *work) UntilDue(p runfolder.Position) int {
	switch {
	case w.limit != (limit{}):
		const look = 1. / 256 // of the work, at least so often
		return max(1, int(look*float64(p.Units)/max(w.Fraction(p), look)))
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
	return w.limit != (limit{}) && w.passed(p, &w.lines, runfolder.MetricsPerRun)
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
