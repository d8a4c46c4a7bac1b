package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// A position is how far a run has come: all that a recorder needs to go on
// from there.
type position struct {
	Units   int     `json:"units"`   // finished
	Seconds float64 `json:"seconds"` // of training
	Pairs   float64 `json:"pairs"`
	Words   float64 `json:"words"`
	Last    Metric  `json:"last"` // line of metrics
	Line    tally   `json:"line"` // since then
}

// A tally is what a line of metrics is made of.
type tally struct {
	Units int     `json:"units"`
	Start float64 `json:"start"` // seconds
	Loss  float64 `json:"loss"`
	Pairs float64 `json:"pairs"`
	Words float64 `json:"words"`
}

// A recorder gathers reports into metrics.
type recorder struct {
	position
	w     io.Writer // may be nil
	every int       // units per metric
}

// newRecorder returns a recorder for a run of so many units that goes on from
// a position, the zero position at its start.
func newRecorder(w io.Writer, units int, from position) *recorder {
	return &recorder{position: from, w: w, every: max(1, (units+metricsPerRun-1)/metricsPerRun)}
}

// add takes the report of one more unit, finished after seconds of training,
// and writes a line when one is due or when the run ends.
func (r *recorder) add(report Report, lr, seconds float64) error {
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
	return r.flush(seconds)
}

// flush writes the line of the units since the last one, if any. If it cannot
// be written the position stays as it was.
func (r *recorder) flush(seconds float64) error {
	line := r.Line
	if line.Units == 0 {
		return nil
	}
	elapsed := max(seconds-line.Start, 1e-9)
	metric := Metric{
		Unit: r.Units, Seconds: seconds, LR: r.Last.LR,
		WordsPerSecond: line.Words / elapsed, PairsPerSecond: line.Pairs / elapsed,
	}
	if line.Pairs > 0 {
		metric.Loss = line.Loss / line.Pairs
	}
	if r.w != nil {
		text, err := json.Marshal(metric)
		if err != nil {
			return fmt.Errorf("cannot write metrics: %w", err)
		}
		if _, err := r.w.Write(append(text, '\n')); err != nil {
			return fmt.Errorf("cannot write metrics: %w", err)
		}
	}
	r.Last, r.Line = metric, tally{Start: seconds}
	return nil
}

// ReadMetrics reads metrics.jsonl. A last line without its end, of a run in
// progress, is left out. Errors name the file and the line.
func ReadMetrics(path string) ([]Metric, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read metrics: %w", err)
	}
	var metrics []Metric
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return metrics, nil
		}
		var m Metric
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		metrics, data = append(metrics, m), rest
	}
}

// A metricsFile is metrics.jsonl, opened to append. A disk that is full is no
// reason to stop training: lines that cannot be written wait in memory, 200 at
// the most in a run, and whoever needs them on the disk calls flush.
type metricsFile struct {
	file    *os.File
	size    int64  // of the whole lines
	waiting []byte // whole lines, too
}

// openMetrics opens the metrics of a run and cuts off what comes after the
// first size bytes: lines of units that will be trained again. A file that is
// shorter lost lines, which is no reason to lose the run.
func openMetrics(path string, size int64) (*metricsFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write metrics: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	m := &metricsFile{file: f, size: min(size, end)}
	if err == nil {
		err = m.rewind()
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot write metrics: %w", err)
	}
	return m, nil
}

// Write appends whole lines. It never fails: flush does.
func (m *metricsFile) Write(lines []byte) (int, error) {
	m.waiting = append(m.waiting, lines...)
	_ = m.write() // or later
	return len(lines), nil
}

// write writes the lines that wait. What a failed write left of a line is taken
// back.
func (m *metricsFile) write() error {
	if _, err := m.file.Write(m.waiting); err != nil {
		return errors.Join(err, m.rewind())
	}
	m.size += int64(len(m.waiting))
	m.waiting = m.waiting[:0]
	return nil
}

// flush makes all lines safe.
func (m *metricsFile) flush() error {
	err := m.write()
	if err == nil {
		err = m.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("cannot write metrics: %w", err)
	}
	return nil
}

// rewind goes to the end of the whole lines.
func (m *metricsFile) rewind() error {
	if err := m.file.Truncate(m.size); err != nil {
		return err
	}
	_, err := m.file.Seek(m.size, io.SeekStart)
	return err
}

// finish makes all lines safe and closes the file.
func (m *metricsFile) finish() error {
	if err := m.flush(); err != nil {
		return err
	}
	return m.file.Close()
}
