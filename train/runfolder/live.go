package runfolder

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// Unfinished says of a run that is not finished whether it is still training, where its
// files are, and how far it has come; "" for all other paths.
func Unfinished(path string) string {
	r, err := Open(path)
	if err != nil {
		return ""
	}
	return r.unfinished()
}

func (r *Run) unfinished() string {
	name, partial := strings.CutSuffix(r.dir, partialSuffix)
	if !partial {
		return ""
	}
	state := "was stopped before its end ('w2vcl resume " + name + "' goes on)"
	if isLocked(r.dir) {
		state = "is still training"
	}
	return fmt.Sprintf("%s %s, in %s%s", name, state, r.dir, r.progress())
}

// progress says how many units of a run are trained, as far as its files tell.
func (r *Run) progress() string {
	units, unit, limited := 0, "unit", false
	if c, err := r.Config(); err == nil {
		limited = c.Budget.Kind != "" && !c.InIterations() // so Units is more than there will be
		if m, ok := settings.FindMode(c.Mode); ok {
			unit = m.Unit
		}
	}
	if metrics, err := r.Metrics(); err == nil && len(metrics) > 0 {
		units = metrics[len(metrics)-1].Unit
	}
	s, err := OpenCheckpoint(r.Path(CheckpointFile))
	if err == nil && s != nil {
		s.Close()
		units = max(units, s.Position.Units)
	}
	if err != nil || s == nil || limited {
		return ": " + terminal.Quantity(terminal.Number(units), unit)
	}
	return fmt.Sprintf(": %s of %s", terminal.Number(units), terminal.Quantity(terminal.Number(s.Units), unit))
}
