package compare

import (
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A pace estimates how long the runs of a comparison take that are still to come.
type pace struct {
	seconds map[string]float64 // of the last finished run of each variant
	now     func() time.Time   // tests change it
}

func newPace() *pace { return &pace{map[string]float64{}, time.Now} }

// known takes the time of a run that was finished before.
func (p *pace) known(r *Record) {
	p.seconds[r.Variant.Name] = r.Summary.SecondsMatrix + r.Summary.SecondsTrain
}

// begin begins a run; the returned function ends it.
func (p *pace) begin(r Run) (end func()) {
	start := p.now()
	return func() { p.seconds[r.Variant.Name] = p.now().Sub(start).Seconds() }
}

// note tells when all runs will be done, "" while nothing is known. A variant without
// a finished run is taken for as long as the mean of the others.
func (p *pace) note(rest []Run) string {
	if len(p.seconds) == 0 {
		return ""
	}
	mean := 0.0
	for _, s := range p.seconds {
		mean += s / float64(len(p.seconds))
	}
	sum := 0.0
	for _, r := range rest {
		if s, ok := p.seconds[r.Variant.Name]; ok {
			sum += s
		} else {
			sum += mean
		}
	}
	return "  ETA of all " + terminal.Duration(sum)
}
