package compare

import (
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// An agenda tells which runs begin, and estimates how long those take that are still to
// come.
type agenda struct {
	*executor
	records []*Record
	now     func() time.Time // tests change it

	seconds map[string]float64 // of the last finished run of each variant
	begun   map[int]time.Time  // the runs that have begun, by number
}

// newAgenda returns the agenda of an executor's runs. Those that are finished tell how long
// others take.
func newAgenda(e *executor, records []*Record) *agenda {
	a := &agenda{executor: e, records: records, now: time.Now, seconds: map[string]float64{}, begun: map[int]time.Time{}}
	for _, r := range records {
		if r.Finished {
			a.seconds[r.Variant.Name] = r.Summary.SecondsMatrix + r.Summary.SecondsTrain
		}
	}
	return a
}

func (a *agenda) title(i int) string {
	return fmt.Sprintf("[%d of %d] %s", i+1, len(a.runs), a.runs[i].Title())
}

// begin begins run i and tells when all runs will be done, "" while nothing is known. A
// variant without a finished run is taken for as long as the mean of the others.
func (a *agenda) begin(i int) string {
	a.begun[i] = a.now()
	if len(a.seconds) == 0 {
		return ""
	}
	mean := 0.0
	for _, s := range a.seconds {
		mean += s / float64(len(a.seconds))
	}
	sum := 0.0
	for k, r := range a.runs {
		if _, begun := a.begun[k]; begun && k != i || a.records[k].Finished { // one that has begun may be judged right now
			continue
		}
		if s, ok := a.seconds[r.Name]; ok {
			sum += s
		} else {
			sum += mean
		}
	}
	return "  ETA of all " + terminal.Duration(sum)
}

// end ends run i.
func (a *agenda) end(i int) {
	if begun, ok := a.begun[i]; ok {
		a.seconds[a.runs[i].Name] = a.now().Sub(begun).Seconds()
	}
}
