package train

import (
	"math"

	"github.com/w2vcl/w2vcl/runfolder"
)

// A work tells how much of a run is done: by units, or by the limit if it has
// one. It also tells when lines and observations are due that come at equal
// steps of the work.
type work struct {
	limit        Limit
	units        int
	steps        int64 // that progress is shown in
	lines        int   // of metrics written
	observed     int
	observations int // 0: none
}

// newWork returns the work of the loop, at the position it starts from.
func (l *loop) newWork(units int) *work {
	w := &work{limit: l.limit, units: units, steps: int64(units)}
	if l.limit != (Limit{}) {
		w.steps = 1000
	}
	if l.observe != nil {
		w.observations = l.observations
	}
	w.lines = int(w.share(l.from) * runfolder.MetricsPerRun)
	w.observed = int(w.share(l.from) * float64(w.observations))
	return w
}

func (w *work) share(p runfolder.Position) float64 { return w.limit.share(p, w.units) }

func (w *work) done(p runfolder.Position) bool { return p.Units >= w.units || w.share(p) >= 1 }

// step is the work done in steps of progress.
func (w *work) step(p runfolder.Position) int64 {
	if w.limit == (Limit{}) {
		return int64(p.Units)
	}
	return int64(w.share(p) * float64(w.steps))
}

// scheduled returns the unit whose learning rate the i-th unit after a position
// has: with a limit, the one that is as far in the schedule as the work is done.
func (w *work) scheduled(p runfolder.Position, i int) int {
	if w.limit == (Limit{}) {
		return p.Units + i
	}
	return int(w.share(p) * float64(w.units))
}

// untilDue returns how many units may be trained before the work must be looked
// at again.
func (w *work) untilDue(p runfolder.Position) int {
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

// lineDue reports whether a line of metrics is due. Without a limit the
// recorder counts units itself.
func (w *work) lineDue(p runfolder.Position) bool {
	return w.limit != (Limit{}) && w.passed(p, &w.lines, runfolder.MetricsPerRun)
}

func (w *work) observationDue(p runfolder.Position) bool {
	return w.observations > 0 && w.passed(p, &w.observed, w.observations)
}

// passed reports whether the work has come past the next of so many marks.
func (w *work) passed(p runfolder.Position, last *int, marks int) bool {
	mark := int(w.share(p) * float64(marks))
	if w.done(p) {
		mark = marks
	}
	due := mark > *last
	*last = mark
	return due
}
