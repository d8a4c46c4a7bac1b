package runfolder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
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
	Fraction       float64 `json:"share,omitempty"` // of the run's work that is done, from 0 to 1

	Scores map[string]float64 `json:"scores,omitempty"` // of the vectors at this unit, by data set
}

// A Position is how far a run has come: all that the loop needs to go on from
// there.
type Position struct {
	Units   int     `json:"units"`   // finished
	Seconds float64 `json:"seconds"` // of training
	Pairs   float64 `json:"pairs"`
	Words   float64 `json:"words"`
	Last    Metric  `json:"last"` // line of metrics
	Line    Tally   `json:"line"` // since then
}

// A Tally sums the units of one line of metrics.
type Tally struct {
	Units int     `json:"units"`
	Start float64 `json:"start"` // seconds
	Loss  float64 `json:"loss"`
	Pairs float64 `json:"pairs"`
	Words float64 `json:"words"`
}

// check returns an error if no run of so many units can have come there. Numbers of
// JSON are finite.
func (p *Position) check(units int) error {
	within := func(part, whole float64) bool { return part >= 0 && part <= whole*(1+1e-9) } // sums are rounded
	line := p.Line
	switch {
	case p.Units < 0 || p.Units > units:
		return fmt.Errorf("it was written after %d of %d units", p.Units, units)
	case !(p.Seconds >= 0 && p.Pairs >= 0 && p.Words >= 0):
		return fmt.Errorf("it was written after %g seconds, %g pairs, %g words", p.Seconds, p.Pairs, p.Words)
	case p.Last.Unit < 0 || p.Last.Unit > p.Units || !within(p.Last.Seconds, p.Seconds):
		return fmt.Errorf("its last metrics are of unit %d after %g seconds, but it was written after %d and %g", p.Last.Unit, p.Last.Seconds, p.Units, p.Seconds)
	case line.Units < 0 || line.Units > p.Units || !within(line.Start, p.Seconds) || !within(line.Pairs, p.Pairs) || !within(line.Words, p.Words):
		return fmt.Errorf("its next metrics are of %d units since second %g, %g pairs, %g words, but it was written after %d, %g, %g, %g",
			line.Units, line.Start, line.Pairs, line.Words, p.Units, p.Seconds, p.Pairs, p.Words)
	}
	return nil
}

// readMetrics reads metrics.jsonl. A last line without its end, of a run in
// progress, is left out. Errors name the file and the line.
func readMetrics(path string) ([]Metric, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read metrics: %w", err)
	}
	return decodeMetrics(data, path)
}

// decodeMetrics is readMetrics of the content of a file.
func decodeMetrics(data []byte, path string) ([]Metric, error) {
	var metrics []Metric
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			if end := bytes.IndexByte(line, '}'); end >= 0 && end < len(line)-1 {
				return nil, fmt.Errorf("%s:%d: the line ends, and %q follows", path, number, line[end+1:])
			}
			return metrics, nil
		}
		m, err := decodeMetric(line)
		if err == nil {
			err = m.check(metrics)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		metrics, data = append(metrics, m), rest
	}
}

// seal is the last key of a line, with room for the XXH64 of all that stands before it.
const seal = `,"xxh64":"0123456789abcdef"}`

// encode returns the line, with its checksum and its end.
func (m *Metric) encode() ([]byte, error) {
	line, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(sealed(line[:len(line)-1]), '\n'), nil
}

// sealed adds the checksum of a line without its last brace.
func sealed(line []byte) []byte {
	return fmt.Appendf(line[:len(line):len(line)], `,"xxh64":"%s"}`, corpus.Hex(xxhash.Sum64(line)))
}

func decodeMetric(line []byte) (m Metric, err error) {
	at := len(line) - len(seal)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(seal[:10])) {
		return m, errors.New("the line is not what w2vcl wrote: it has no checksum")
	}
	if !bytes.Equal(line, sealed(line[:at])) {
		return m, errors.New("the line is not what w2vcl wrote: its checksum does not match")
	}
	return m, json.Unmarshal(line, &m)
}

// check returns an error if no run can have written the line after those before it.
func (m *Metric) check(before []Metric) error {
	var last Metric
	if n := len(before); n > 0 {
		last = before[n-1]
	}
	switch {
	case m.Unit <= last.Unit || m.Seconds < last.Seconds:
		return fmt.Errorf("unit %d after %g seconds follows unit %d after %g", m.Unit, m.Seconds, last.Unit, last.Seconds)
	case m.WordsPerSecond < 0 || m.PairsPerSecond < 0:
		return fmt.Errorf("%g words and %g pairs a second", m.WordsPerSecond, m.PairsPerSecond)
	}
	return nil
}

// largestSmall is the size in bytes of the largest file that readSmall reads. Metrics
// and summaries have some thousands.
const largestSmall = 64 << 20

// readSmall returns the content of a file of lines or of JSON.
func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestSmall+1))
	if err == nil && len(data) > largestSmall {
		err = fmt.Errorf("%s: it has more than %d bytes, so w2vcl did not write it", path, largestSmall)
	}
	return data, err
}

// A MetricsLog is metrics.jsonl, opened to append. A disk that is full is no
// reason to stop training: lines that cannot be written wait in memory, 200 at
// the most in a run, and whoever needs them on the disk calls Flush.
type MetricsLog struct {
	file    *os.File
	size    int64          // bytes of the whole lines
	hash    *xxhash.Digest // of them
	waiting []byte         // whole lines, too
}

// OpenMetrics opens the metrics of the run, to go on from a checkpoint; nil is the
// start of the run.
func (f *Folder) OpenMetrics(from *SavedState) (*MetricsLog, error) {
	err := f.sums.forget(f.Dir, MetricsFile)
	if err == nil {
		err = f.sums.save(f.Dir)
	}
	if err != nil {
		return nil, err
	}
	size := int64(0)
	if from != nil {
		size = from.Metrics
	}
	f.metrics, err = OpenMetrics(f.Path(MetricsFile), size)
	return f.metrics, err
}

// finishMetrics ends the metrics, if they are open.
func (f *Folder) finishMetrics() error {
	if f.metrics == nil {
		return nil
	}
	if err := f.metrics.Finish(); err != nil {
		return err
	}
	f.sums.set(MetricsFile, f.metrics.hash.Sum64())
	f.metrics = nil
	return nil
}

// OpenMetrics opens the metrics of a run and cuts off what comes after the
// first size bytes: lines of units that will be trained again. A file that is
// shorter lost lines, which is no reason to lose the run.
func OpenMetrics(path string, size int64) (*MetricsLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot write metrics: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	m := &MetricsLog{file: f, size: min(size, end), hash: xxhash.New()}
	if err == nil {
		_, err = io.Copy(m.hash, io.NewSectionReader(f, 0, m.size))
	}
	if err == nil {
		err = m.rewind()
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot write metrics: %w", err)
	}
	return m, nil
}

// Write appends whole lines. It never fails: Flush does.
func (m *MetricsLog) Write(lines []byte) (int, error) {
	m.waiting = append(m.waiting, lines...)
	_ = m.write() // or later
	return len(lines), nil
}

// write writes the lines that wait. What a failed write left of a line is taken
// back.
func (m *MetricsLog) write() error {
	if _, err := m.file.Write(m.waiting); err != nil {
		return errors.Join(err, m.rewind())
	}
	m.size += int64(len(m.waiting))
	_, _ = m.hash.Write(m.waiting) // never fails
	m.waiting = m.waiting[:0]
	return nil
}

// Flush makes all lines safe.
func (m *MetricsLog) Flush() error {
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
func (m *MetricsLog) rewind() error {
	if err := m.file.Truncate(m.size); err != nil {
		return err
	}
	_, err := m.file.Seek(m.size, io.SeekStart)
	return err
}

// Finish makes all lines safe and closes the file.
func (m *MetricsLog) Finish() error {
	if err := m.Flush(); err != nil {
		return err
	}
	return m.file.Close()
}

// Size returns the bytes of the whole lines that are written, and their XXH64.
func (m *MetricsLog) Size() (bytes int64, sum string) { return m.size, corpus.Hex(m.hash.Sum64()) }

// Close closes the file; lines that wait are lost.
func (m *MetricsLog) Close() error { return m.file.Close() }
