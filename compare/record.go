package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
)

// runsFolder, in the folder of a comparison, holds the run folder NAME and the
// record NAME.json of each run.
const runsFolder = "runs"

// A Record is everything that a comparison keeps of a run beside its run folder.
// It is written after each observation, so that a comparison can be interrupted at
// any time.
type Record struct {
	Variant
	Seed         uint64            `json:"seed"`
	Settings     map[string]string `json:"settings"` // see settingsOf
	Budget       string            `json:"budget"`
	Observations int               `json:"observations"` // that were asked for
	Fingerprint  string            `json:"fingerprint"`  // of the text
	Sets         []string          `json:"sets"`         // of the evaluation

	Points   []Point           `json:"points"`   // the observations until now
	Finished bool              `json:"finished"` // the fields below are set
	Summary  runfolder.Summary `json:"summary"`
	Scores   []evaluate.Result `json:"scores"` // at the end, by all metrics

	// Classes are the scores of sets of sentences, if they were asked for.
	Classes   []evaluate.Result `json:"classes,omitempty"`
	ClassSets []string          `json:"class_sets,omitempty"`
}

// A Point is one observation of a run.
type Point struct {
	Share   float64           `json:"share"` // of the work, from 0 to 1
	Units   int               `json:"units"`
	Seconds float64           `json:"seconds"` // of training
	Pairs   float64           `json:"pairs"`
	Loss    float64           `json:"loss"`   // of training, per pair
	Scores  []evaluate.Result `json:"scores"` // the main metric of each set
	Bands   []words.Band      `json:"bands"`
}

// settingsOf returns all recorded settings of a mode, as texts by name.
// [settings.Config.Recorded] leaves out those that say nothing; report.json and the
// records of earlier comparisons have them.
func settingsOf(c settings.Config) map[string]string {
	texts := map[string]string{}
	for _, s := range c.Settings() {
		if s.Record && s.AppliesTo(c.Mode) {
			texts[s.Name] = s.String()
		}
	}
	return texts
}

func (r *Record) path(out string) string {
	return filepath.Join(out, runsFolder, Run{Variant: r.Variant, Config: settings.Config{Machine: settings.Machine{Seed: r.Seed}}}.name()+".json")
}

// restart makes the record that of a run to be trained if it is of one that is
// finished and whose folder is not there any more. It reports whether that was so.
func (r *Record) restart(folder string) bool {
	if _, err := os.Stat(filepath.Join(folder, runfolder.SummaryFile)); !r.Finished || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	r.Points, r.Finished, r.Summary, r.Scores, r.Classes, r.ClassSets = nil, false, runfolder.Summary{}, nil, nil, nil
	return true
}

// save writes the record.
func (r *Record) save(out string) error {
	if err := os.MkdirAll(filepath.Join(out, runsFolder), 0o755); err != nil {
		return fmt.Errorf("cannot make --out: %w", err)
	}
	return atomicfile.Write(r.path(out), func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", " ")
		return encoder.Encode(r)
	})
}

// ReadRecord reads what a comparison keeps of a run, by the path of the run folder. ok is
// false for a run that no comparison made.
func ReadRecord(run string) (r Record, ok bool, err error) {
	path := filepath.Clean(run) + ".json"
	if filepath.Base(filepath.Dir(path)) != runsFolder {
		return r, false, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, false, fmt.Errorf("%s: %w", path, err)
	}
	return r, true, nil
}

// reload reads the record of the same run that an earlier process wrote, if there
// is one. A record of another run is an error that names a difference.
func (r *Record) reload(out string) error {
	data, err := os.ReadFile(r.path(out))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old Record
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.path(out), err)
	}
	old.Settings = settings.Current(old.Settings)
	if difference := r.difference(&old); difference != "" {
		return terminal.Usagef("--out %s holds another comparison: %s has %s; name another folder", out, filepath.Base(r.path(out)), difference)
	}
	old.of = r.of
	*r = old
	return nil
}

// difference names the first reason why the old record is of another run, or "".
func (r *Record) difference(old *Record) string {
	if !maps.Equal(r.Settings, old.Settings) {
		for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
			if r.Settings[name] != old.Settings[name] {
				return fmt.Sprintf("--%s %s, not %s", name, old.Settings[name], r.Settings[name])
			}
		}
		return "other settings"
	}
	switch {
	case r.Budget != old.Budget:
		return fmt.Sprintf("--budget %s, not %s", old.Budget, r.Budget)
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
