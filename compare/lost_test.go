package compare

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestLostComparison removes folders of a comparison while it runs and after it. What
// is lost is trained again, with the same scores.
func TestLostComparison(t *testing.T) {
	modes := []string{settings.ModeCL, string(sequential.PWord2Vec)}
	small := func() experiment.Options {
		o := smallComparison(t, modes...)
		o.Seeds, o.Settings["contexts"] = 1, "12"
		return o
	}
	want := summarized(t, small(), nil)
	check := func(name string, got *Result) {
		t.Helper()
		for i := range want.Variants {
			for k := range want.Variants[i].Scores {
				if got.Variants[i].Scores[k].Mean != want.Variants[i].Scores[k].Mean {
					t.Errorf("%s: %s has other scores", name, want.Variants[i].Name)
				}
			}
			if len(got.Variants[i].Curve) != len(want.Variants[i].Curve) {
				t.Errorf("%s: %d points, want %d", name, len(got.Variants[i].Curve), len(want.Variants[i].Curve))
			}
		}
	}
	all := func(o experiment.Options) error { return os.RemoveAll(o.Out) }
	moved := func(o experiment.Options) error { return os.Rename(o.Out, filepath.Join(t.TempDir(), "elsewhere")) }
	allRuns := func(o experiment.Options) error { return os.RemoveAll(filepath.Join(o.Out, experiment.RunsFolder)) }
	for text, losses := range map[string]map[string]func(o experiment.Options) error{
		"[1 of":    {"moved": moved, "all runs": allRuns},
		"Matrix M": {"all": all, "all runs": allRuns},
		"Trained":  {"moved": moved, "all runs": allRuns},
		"[2 of":    {"all": all, "moved": moved, "all runs": allRuns},
	} {
		for name, lose := range losses {
			o := small()
			w := &cancelWriter{text: text}
			w.cancel = func() {
				w.cancel = func() {}
				if err := lose(o); err != nil && text != "[1 of" { // before there is anything
					t.Error(err)
				}
			}
			got := summarized(t, o, progress.New(w))
			check(name+" at "+text, got)
			if text == "[2 of" && !bytes.Contains(w.log.Bytes(), []byte("it is trained again")) {
				t.Errorf("%s at %s: the user was not told:\n%s", name, text, &w.log)
			}
			folders, err := filepath.Glob(filepath.Join(o.Out, experiment.RunsFolder, "*"))
			if err != nil || len(folders) != 4 || slices.ContainsFunc(folders, func(f string) bool { return filepath.Ext(f) == ".partial" }) {
				t.Errorf("%s at %s: left %q", name, text, folders)
			}
		}
	}
	o := small()
	summarized(t, o, nil)
	runs, err := o.Runs()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(runs[0].Config.Out); err != nil {
		t.Fatal(err)
	}
	check("after it", summarized(t, o, nil))
}
