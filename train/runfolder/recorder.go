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
	Fraction func(p Position) float64 // of the run's work that is done at a position
	Scores   map[string]float64       // of the line that is written next, and of no line after it

	w     io.Writer // may be nil
	every int       // units per metric
}

// NewRecorder returns a Recorder for a run of so many units that goes on from
// a position, the zero position at its start.
func NewRecorder(w io.Writer, units int, from Position, fraction func(Position) float64) *Recorder {
	return &Recorder{Position: from, Fraction: fraction, w: w, every: max(1, (units+MetricsPerRun-1)/MetricsPerRun)}
}

// Add takes the report of one more unit, finished after seconds of training.
func (r *Recorder) Add(report trainer.Report, lr, seconds float64) {
	r.Units++
	r.Seconds = seconds
	r.Pairs += report.Pairs
	r.Words += report.Words
	r.Line.Units++
	r.Line.Loss += report.Loss
	r.Line.Pairs += report.Pairs
	r.Line.Words += report.Words
	r.Last.LR = lr
}

// Due reports whether a line is due.
func (r *Recorder) Due() bool { return r.Line.Units >= r.every }

// Loss is the mean since the last line; without pairs, that of the last line.
func (r *Recorder) Loss() float64 {
	if r.Line.Pairs > 0 {
		return r.Line.Loss / r.Line.Pairs
	}
	return r.Last.Loss
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
		Fraction: min(1, r.Fraction(r.Position)), Loss: r.Loss(), Scores: r.Scores,
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
	r.Last, r.Line, r.Scores = metric, Tally{Start: seconds}, nil
	return nil
}
