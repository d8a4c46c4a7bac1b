package runfolder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestLostAndRestored: a folder that was moved away is noticed and made again, and the
// one that was moved is nobody's.
func TestLostAndRestored(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs", "run")
	f, err := Create(out, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Lost(); err != nil {
		t.Fatal(err)
	}
	if err := f.Lost(ConfigFile); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), ConfigFile) {
		t.Errorf("without settings: %v", err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(f.Dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := f.Lost(); !errors.Is(err, ErrLost) {
		t.Errorf("moved: %v", err)
	}
	if err := f.Finish(Summary{}); !errors.Is(err, ErrLost) {
		t.Errorf("finished without a folder: %v", err)
	}
	if err := os.RemoveAll(filepath.Dir(out)); err != nil {
		t.Fatal(err)
	}
	if err := f.Restore(); err != nil {
		t.Fatal(err)
	}
	if err := f.Lost(); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		lock, err := lockFolder(moved)
		if err != nil {
			t.Errorf("the moved folder: %v", err)
		} else {
			lock.Close()
		}
		if !isLocked(f.Dir) || isLocked(moved) {
			t.Errorf("locked: %t, the moved folder: %t", isLocked(f.Dir), isLocked(moved))
		}
	}
	if err := f.Finish(Summary{}); err != nil {
		t.Error(err)
	}
}

// TestRestoreLeavesOthers: nothing is written to, or removed from, what somebody put in
// the place of a lost folder, however often it is tried.
func TestRestoreLeavesOthers(t *testing.T) {
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
	for range 2 {
		if err := f.Restore(); err == nil || !strings.Contains(err.Error(), `holds "thesis"`) {
			t.Errorf("restored: %v", err)
		}
		if err := f.Lost(); !errors.Is(err, ErrLost) {
			t.Errorf("lost: %v", err)
		}
		if err := f.Finish(Summary{}); !errors.Is(err, ErrLost) {
			t.Errorf("finished: %v", err)
		}
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
