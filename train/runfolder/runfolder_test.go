package runfolder

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/train/progress"
)

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	stranger := filepath.Join(dir, "stranger")
	empty := filepath.Join(dir, "empty")
	busy := filepath.Join(dir, "busy") // killed before there was anything
	unfinished := filepath.Join(dir, "unfinished")
	foreign := filepath.Join(dir, "foreign")
	killed := filepath.Join(dir, "killed") // while it was tried whether it can be written to
	for _, folder := range []string{stranger, empty, killed, busy + ".partial", unfinished + ".partial", foreign + ".partial"} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		file, filepath.Join(stranger, "thesis.tex"), filepath.Join(foreign+".partial", "thesis.tex"),
		filepath.Join(unfinished+".partial", ConfigFile), filepath.Join(busy+".partial", ".config.toml.tmp-1"),
		filepath.Join(killed, ".probe.tmp-1"),
	} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		out   string
		force bool
		want  string // empty: allowed
	}{
		{"", false, "--out is missing"},
		{file, false, "is not a folder"},
		{file, true, "is not a folder"},
		{filepath.Join(file, "run"), false, "cannot make --out"},
		{empty, false, "exists: choose another name, or replace it with --force"},
		{empty, true, ""},
		{killed, true, ""},
		{stranger, false, "exists"},
		{stranger, true, `holds "thesis.tex", which is not a file of a run`},
		{busy, false, ""},
		{unfinished, false, "holds an unfinished run: 'w2vcl resume"},
		{unfinished, true, ""},
		{foreign, true, `holds "thesis.tex"`},
		{filepath.Join(dir, "run.partial"), false, "names that end with .partial"},
		{filepath.Join(dir, "run.replaced"), true, "names that end with .replaced"},
		{filepath.Join(dir, "new", "deep"), false, ""},
	} {
		f, err := Create(test.out, test.force)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.out, err)
				continue
			}
			if err := f.Commit(Summary{}); err != nil {
				t.Errorf("%s: %v", test.out, err)
			}
			f.Close()
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s force %v: got %v, want %q", test.out, test.force, err, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(stranger, "thesis.tex")); err != nil {
		t.Error("a file that is not of a run was lost")
	}
}

func TestOneProcessAtATime(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no locks on this system")
	}
	out := filepath.Join(t.TempDir(), "run")
	first, err := Create(out, false)
	if err != nil {
		t.Fatal(err)
	}
	const want = "another w2vcl is training there"
	if _, err := Create(out, true); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("train --force: %v", err)
	}
	if _, err := Reopen(out); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("resume: %v", err)
	}
	if !exists(out + ".partial") {
		t.Error("the folder of the one who has it is gone")
	}
	time.AfterFunc(5*time.Millisecond, func() { first.Close() }) // while the second waits
	second, err := Create(out, false)
	for err != nil && strings.Contains(err.Error(), want) {
		second, err = Create(out, false)
	}
	if err != nil {
		t.Errorf("when the first has ended: %v", err)
	} else {
		second.Close()
	}
}

func TestDiskSpace(t *testing.T) {
	folder := &Folder{Dir: t.TempDir()}
	free, ok := machine.FreeSpace(folder.Dir)
	if !ok {
		t.Skip("free space is not known on this system")
	}
	if free < 1<<20 {
		t.Fatalf("%d bytes free", free)
	}
	if free, ok := machine.FreeSpace(filepath.Join(folder.Dir, "none")); ok {
		t.Errorf("no folder: %d bytes free", free)
	}
	for _, test := range []struct {
		space             DiskSpace
		refused, warned   bool
		checkpointRefused bool
	}{
		{DiskSpace{1000, 1000}, false, false, false},
		{DiskSpace{math.MaxInt64 / 4, 1000}, true, false, true},
		{DiskSpace{1000, math.MaxInt64 / 4}, false, true, true},
		{DiskSpace{free / 10, free / 10 * 6}, false, true, false}, // two checkpoints are too much, one and the vectors are not
	} {
		var shown bytes.Buffer
		err := test.space.Check(folder, progress.New(&shown))
		if (err != nil) != test.refused || strings.Contains(shown.String(), "Warning") != test.warned {
			t.Errorf("%+v of %d: %v, %q", test.space, free, err, &shown)
		}
		if err := test.space.CheckCheckpoint(folder); (err != nil) != test.checkpointRefused {
			t.Errorf("%+v: checkpoint %v", test.space, err)
		}
	}
}

// TestMetricsWaitForSpace: lines that cannot be written are written later.
func TestMetricsWaitForSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), MetricsFile)
	m, err := OpenMetrics(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	put := func(lines string) {
		if n, err := m.Write([]byte(lines)); n != len(lines) || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
	}
	put("one\n")
	good := m.file
	if m.file, err = os.Open(path); err != nil { // cannot be written to
		t.Fatal(err)
	}
	put("two\n")
	put("three\n")
	if err := m.Flush(); err == nil || !strings.Contains(err.Error(), "cannot write metrics") {
		t.Errorf("flush: %v", err)
	}
	m.file.Close()
	m.file = good
	put("four\n")
	if m.size != 19 {
		t.Errorf("%d bytes of whole lines", m.size)
	}
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := string(mustRead(t, path)); got != "one\ntwo\nthree\nfour\n" {
		t.Errorf("the file holds %q", got)
	}
	// A file that is longer than a checkpoint knows is cut, a shorter one kept.
	for _, test := range []struct {
		size int64
		want string
	}{{8, "one\ntwo\nnext\n"}, {1000, "one\ntwo\nnext\nnext\n"}} {
		if m, err = OpenMetrics(path, test.size); err != nil {
			t.Fatal(err)
		}
		put("next\n")
		if err := m.Finish(); err != nil {
			t.Fatal(err)
		}
		if got := string(mustRead(t, path)); got != test.want {
			t.Errorf("from byte %d: %q, want %q", test.size, got, test.want)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
