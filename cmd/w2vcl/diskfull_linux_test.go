package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of the given size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted (it takes the superuser): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Errorf("cannot unmount: %v", err)
		}
	})
	return disk
}

// TestDiskTooSmall: a run whose vectors do not fit is refused. One whose checkpoints do
// not fit does without them.
func TestDiskTooSmall(t *testing.T) {
	disk := smallDisk(t, "600k")
	r := newRun(t, "--model", "sg", "--contexts", "64", "--iterations", "200", "--checkpoint", "20")
	r.out = filepath.Join(disk, "run")
	start := time.Now()
	output, err := r.train("--dim", "2000").CombinedOutput()
	if err == nil || !bytes.Contains(output, []byte("but the vectors of this run take 1.03 MB: free some space")) {
		t.Errorf("vectors that do not fit: %v after %v\n%s", err, time.Since(start), output)
	}
	if got := r.files(); got != nil {
		t.Errorf("left %q", got)
	}
	cmd := r.train("--dim", "512")
	cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--quiet" })
	output, err = cmd.CombinedOutput()
	if err != nil || strings.Count(string(output), "Warning") != 2 || !bytes.Contains(output, []byte("with checkpoints this run needs")) {
		t.Errorf("checkpoints that do not fit: %v\n%s", err, output)
	}
	if got := r.files(); len(got) != 8 {
		t.Errorf("left %q", got)
	}
}

// TestDiskFullText: a text whose file does not fit is refused, by the name of the folder,
// and leaves nothing.
func TestDiskFullText(t *testing.T) {
	disk := smallDisk(t, "600k")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("the red fox and the blue dog\n"), 700_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		want      string
		arguments []string
	}{
		"the file":               {"and " + disk + " has ", nil},
		"while the text is read": {"cannot write a temporary file in " + disk, []string{"--max-memory", "100MB"}},
	} {
		output, err := w2vclCommand(t, append([]string{"corpus", "build", "--corpus", text, "--cache", disk, "--quiet"}, c.arguments...)...).CombinedOutput()
		if err == nil || !bytes.Contains(output, []byte(c.want)) {
			t.Errorf("%s: %v, want %q\n%s", name, err, c.want, output)
		}
		if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}

// TestReadOnlyFolder: a matrix and a vocabulary that are there are read, also where nothing can be written.
func TestReadOnlyFolder(t *testing.T) {
	disk := smallDisk(t, "1m")
	r := newRun(t, "--model", "sg", "--contexts", "16", "--iterations", "2")
	r.args = append(r.args, "--matrix", filepath.Join(disk, "matrix"), "--vocab", filepath.Join(disk, "vocabulary"))
	r.must(r.train())
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	want := r.hash()
	r.out += "2"
	r.must(r.train())
	if r.hash() != want {
		t.Error("other vectors")
	}
	if output, err := r.train("--force").CombinedOutput(); err == nil || !bytes.Contains(output, []byte("read-only file system")) {
		t.Errorf("--force: %v\n%s", err, output)
	}
}
