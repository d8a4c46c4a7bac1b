package runfolder

import (
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/train/trainer"
)

// MetricsPerRun bounds the lines of metrics.jsonl. They come after fixed
// numbers of units, not of seconds, so that two runs of one configuration can
// be compared line by line.
const MetricsPerRun = 200

// A Recorder gathers the reports of units into lines of metrics.
type Recorder struct {
	Position
	// Fraction tells how much of the run's work is done at a position. NewRecorder counts
	// units; a run that ends otherwise sets it.
	Fraction func(p Position) float64

	w     io.Writer // may be nil
	every int       // units per metric
}

// NewRecorder returns a Recorder for a run of so many units that goes on from
// a position, the zero position at its start.
func NewRecorder(w io.Writer, units int, from Position) *Recorder {
	share := func(p Position) float64 { return float64(p.Units) / float64(max(units, 1)) }
	return &Recorder{Position: from, Fraction: share, w: w, every: max(1, (units+MetricsPerRun-1)/MetricsPerRun)}
}

// Add takes the report of one more unit, finished after seconds of training,
// and writes a line when one is due or when the run ends.
func (r *Recorder) Add(report trainer.Report, lr, seconds float64) error {
	r.Units++
	r.Seconds = seconds
	r.Pairs += report.Pairs
	r.Words += report.Words
	r.Line.Units++
	r.Line.Loss += report.Loss
	r.Line.Pairs += report.Pairs
	r.Line.Words += report.Words
	r.Last.LR = lr
	if r.Line.Units < r.every {
		return nil
	}
	return r.Flush(seconds)
}

// Flush writes the line of the units since the last one, if any. If it cannot
// be written the position stays as it was.
func (r *Recorder) Flush(seconds float64) error {
	line := r.Line
	if line.Units == 0 {
		return nil
	}
	elapsed := max(seconds-line.Start, 1e-9)
	metric := Metric{
		Unit: r.Units, Seconds: seconds, LR: r.Last.LR,
		WordsPerSecond: line.Words / elapsed, PairsPerSecond: line.Pairs / elapsed,
		Fraction: min(1, r.Fraction(r.Position)),
		Loss:     r.Last.Loss, // that of a line without pairs
	}
	if line.Pairs > 0 {
		metric.Loss = line.Loss / line.Pairs
	}
	if r.w != nil {
		text, err := metric.encode()
		if err != nil {
			return fmt.Errorf("cannot write metrics: %w", err)
		}
		if _, err := r.w.Write(text); err != nil {
			return fmt.Errorf("cannot write metrics: %w", err)
		}
	}
	r.Last, r.Line = metric, Tally{Start: seconds}
	return nil
}
