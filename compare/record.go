package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A Record is everything that a comparison keeps of a run beside its run folder.
// It is written after each observation, so that a comparison can be interrupted at
// any time.
type Record struct {
	experiment.Variant
	Version      int               `json:"version,omitempty"` // recordVersion, in its file only
	Sum          string            `json:"xxh64,omitempty"`   // of its file, in which the digits count as zeros
	Seed         uint64            `json:"seed"`
	Settings     map[string]string `json:"settings"` // see settingsOf
	Budget       string            `json:"budget"`
	Observations int               `json:"observations"` // that were asked for
	Fingerprint  string            `json:"fingerprint"`  // of the text
	Sets         []string          `json:"sets"`         // of the evaluation

	Length   *Length           `json:"length,omitempty"`   // if it is measured
	Diverged string            `json:"diverged,omitempty"` // why training came to nothing
	Points   []Point           `json:"points"`             // the observations until now
	Finished bool              `json:"finished"`           // the fields below are set
	Summary  runfolder.Summary `json:"summary"`
	Scores   []evaluate.Result `json:"scores"` // at the end, by all metrics

	// Classes are the scores of sets of sentences, if they were asked for.
	Classes   []evaluate.Result `json:"classes,omitempty"`
	ClassSets []string          `json:"class_sets,omitempty"`
}

// A Point is one observation of a run.
type Point struct {
	Fraction float64           `json:"share"` // of the work, from 0 to 1
	Units    int               `json:"units"`
	Seconds  float64           `json:"seconds"` // of training
	Pairs    float64           `json:"pairs"`
	Loss     float64           `json:"loss"`   // of training, per pair
	Scores   []evaluate.Result `json:"scores"` // the main metric of each set
	Bands    []words.Band      `json:"bands"`
}

// settingsOf returns the settings of a run. The length of one that follows the first run is known later.
func (e *executor) settingsOf(r experiment.Run) map[string]string {
	texts := r.Config.Recorded()
	texts["device"] = kindOf(texts["device"])
	if e.options.Follows(r) {
		delete(texts, "epochs")
		delete(texts, "iterations")
		texts["budget"] = e.options.Budget.String()
	}
	return texts
}

// kindOf returns a device without its number: any GPU goes on with a comparison, or as many of
// them.
func kindOf(device string) string {
	kind, _, _ := strings.Cut(device, ":")
	if n := 1 + strings.Count(device, ","); n > 1 {
		kind = fmt.Sprintf("%s, %d", kind, n)
	}
	return kind
}

func (r *Record) path(out string) string {
	run := experiment.Run{Variant: r.Variant, Config: settings.Config{Machine: settings.Machine{Seed: r.Seed}}}
	return filepath.Join(out, experiment.RunsFolder, run.ID()+".json")
}

// restart makes the record that of a run to be trained if it is of one that is
// finished and whose folder is not there any more.
func (r *Record) restart(folder string) {
	if _, err := os.Stat(filepath.Join(folder, runfolder.SummaryFile)); r.Finished && errors.Is(err, fs.ErrNotExist) {
		r.Points, r.Finished, r.Summary, r.Scores, r.Classes, r.ClassSets = nil, false, runfolder.Summary{}, nil, nil, nil
	}
}

const recordVersion = 1

// noSum are the digits of the checksum in what it is the sum of.
const noSum = "0000000000000000"

func (r *Record) save(out string) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(r.path(out), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// encode returns the content of the record's file.
func (r *Record) encode() ([]byte, error) {
	versioned := *r
	versioned.Version, versioned.Sum = recordVersion, noSum
	data, err := json.MarshalIndent(versioned, "", " ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	copy(sumDigits(data), corpus.Hex(xxhash.Sum64(data)))
	return data, nil
}

// sumDigits returns the digits of the checksum in a record's file, nil if it has none.
func sumDigits(data []byte) []byte {
	before := []byte(`"xxh64": "`)
	at := bytes.Index(data, before)
	if at < 0 || len(data)-at-len(before) < len(noSum) {
		return nil
	}
	return data[at+len(before):][:len(noSum)]
}

// decodeRecord reads what encode returned. It may change data.
func decodeRecord(data []byte) (r Record, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, err
	}
	digits := sumDigits(data)
	switch {
	case r.Version != recordVersion:
		return Record{}, fmt.Errorf("its version is %d, and this w2vcl reads version %d", r.Version, recordVersion)
	case digits == nil || string(digits) != r.Sum:
		return Record{}, errors.New("it is damaged: its checksum is missing")
	default:
		copy(digits, noSum)
		if got := corpus.Hex(xxhash.Sum64(data)); got != r.Sum {
			return Record{}, fmt.Errorf("it is damaged (checksum %s instead of %s)", got, r.Sum)
		}
	}
	if r.Observations < 0 || !slices.IsSortedFunc(r.Points, func(a, b Point) int { return cmp.Compare(a.Units, b.Units) }) {
		return Record{}, errors.New("its observations are not in order")
	}
	r.Version, r.Sum = 0, ""
	return r, nil
}

// largestRecord is the size in bytes of the largest record that is read; records have
// some thousands.
const largestRecord = 256 << 20

func readRecord(path string) (r Record, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestRecord+1))
	if err == nil && len(data) > largestRecord {
		err = fmt.Errorf("it has more than %d bytes", largestRecord)
	}
	if err == nil {
		r, err = decodeRecord(data)
	}
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w; remove it, and its run is trained again", path, err)
	}
	return r, nil
}

// reload reads the record of the same run that an earlier process wrote, if there
// is one. A record of another run is an error that names a difference.
func (r *Record) reload(out string) error {
	old, err := readRecord(r.path(out))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if difference := r.difference(&old); difference != "" {
		return terminal.Usagef("--out %s holds another comparison: %s has %s; name another folder", out, filepath.Base(r.path(out)), difference)
	}
	old.Variant = r.Variant
	*r = old
	return nil
}

// difference names the first reason why the old record is of another run, or "".
func (r *Record) difference(old *Record) string {
	if r.Budget != old.Budget {
		return fmt.Sprintf("--budget %s, not %s", old.Budget, r.Budget)
	}
	if !maps.Equal(r.Settings, old.Settings) {
		for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
			if r.Settings[name] != old.Settings[name] {
				return fmt.Sprintf("--%s %s, not %s", name, old.Settings[name], r.Settings[name])
			}
		}
		return "other settings"
	}
	switch {
	case r.Observations != old.Observations:
		return fmt.Sprintf("--points %d, not %d", old.Observations, r.Observations)
	case r.Fingerprint != old.Fingerprint:
		return "another text"
	case !slices.Equal(r.Sets, old.Sets):
		return "other evaluation sets"
	}
	return ""
}

// add appends an observation. Observations after it are of work that is done again.
func (r *Record) add(p Point) {
	r.Points = slices.DeleteFunc(r.Points, func(old Point) bool { return old.Units >= p.Units })
	r.Points = append(r.Points, p)
}
