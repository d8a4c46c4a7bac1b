package runfolder

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLostLeavesOthers: nothing is written to, or removed from, what somebody put in
// the place of a lost folder.
func TestLostLeavesOthers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	f, err := Create(out, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{VectorsFile, "thesis"} {
		if err := os.WriteFile(f.Path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Lost(); !errors.Is(err, ErrLost) {
		t.Errorf("lost: %v", err)
	}
	if err := f.Finish(Summary{}); !errors.Is(err, ErrLost) {
		t.Errorf("finished: %v", err)
	}
	f.Close()
	var left []string
	entries, err := os.ReadDir(out + ".partial")
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || !slices.Equal(left, []string{"thesis", VectorsFile}) {
		t.Errorf("left %q (%v)", left, err)
	}
}

// TestCommitLeavesOthers: an OUT that appears during training is not replaced.
func TestCommitLeavesOthers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	f, err := Create(out, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(Summary{}); err == nil || !strings.Contains(err.Error(), "'w2vcl resume") {
		t.Errorf("finished: %v", err)
	}
	if !exists(filepath.Join(out+".partial", SummaryFile)) || exists(filepath.Join(out, SummaryFile)) {
		t.Error("the new run is not where it was made")
	}
}

func TestIsRun(t *testing.T) {
	dir := t.TempDir()
	for name, files := range map[string][]string{
		"run": {ConfigFile, SummaryFile}, "new.partial": {ConfigFile}, "project": {ConfigFile}, "vectors": {VectorsFile}, "none": nil,
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(dir, name, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := IsRun(filepath.Join(dir, name)), name == "run" || name == "new.partial"; got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if IsRun(filepath.Join(dir, "not there")) {
		t.Error("what is not there is a run")
	}
}
