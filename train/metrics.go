package train

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Metric is one line of metrics.jsonl: the means over the units since the
// line before.
type Metric struct {
	Unit           int     `json:"unit"`    // units finished
	Seconds        float64 `json:"seconds"` // of training until then
	Loss           float64 `json:"loss"`    // per pair, natural logarithm
	LR             float64 `json:"lr"`      // of the last unit
	WordsPerSecond float64 `json:"words_per_second"`
	PairsPerSecond float64 `json:"pairs_per_second"`
}

// metricsPerRun bounds the lines of metrics.jsonl. They come after fixed
// numbers of units, not of seconds, so that two runs of one configuration can
// be compared line by line.
const metricsPerRun = 200

// A recorder gathers reports into metrics.
type recorder struct {
	w     io.Writer // may be nil
	every int       // units per metric

	units, inLine int
	loss, pairs   float64 // since the last line
	words         float64
	lineStart     float64
	allPairs      float64
	allWords      float64
	last          Metric
}

func newRecorder(w io.Writer, units int) *recorder {
	return &recorder{w: w, every: max(1, (units+metricsPerRun-1)/metricsPerRun)}
}

// add takes the report of one more unit, finished after seconds of training,
// and writes a line when one is due or when the run ends.
func (r *recorder) add(report Report, lr, seconds float64) error {
	r.units++
	r.inLine++
	r.loss += report.Loss
	r.pairs += report.Pairs
	r.words += report.Words
	r.allPairs += report.Pairs
	r.allWords += report.Words
	r.last.LR = lr
	if r.inLine < r.every {
		return nil
	}
	return r.flush(seconds)
}

// flush writes the line of the units since the last one, if any.
func (r *recorder) flush(seconds float64) error {
	if r.inLine == 0 {
		return nil
	}
	elapsed := max(seconds-r.lineStart, 1e-9)
	r.last = Metric{
		Unit: r.units, Seconds: seconds, LR: r.last.LR,
		WordsPerSecond: r.words / elapsed, PairsPerSecond: r.pairs / elapsed,
	}
	if r.pairs > 0 {
		r.last.Loss = r.loss / r.pairs
	}
	r.inLine, r.loss, r.pairs, r.words, r.lineStart = 0, 0, 0, 0, seconds
	if r.w == nil {
		return nil
	}
	line, err := json.Marshal(r.last)
	if err != nil {
		return fmt.Errorf("cannot write metrics: %w", err)
	}
	if _, err := r.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot write metrics: %w", err)
	}
	return nil
}
