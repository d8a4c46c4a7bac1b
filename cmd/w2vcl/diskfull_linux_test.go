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

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
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

// fill keeps a disk full, also when a file on it is removed, until the returned
// function is called.
func fill(t *testing.T, disk string) (empty func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	full, stop, stopped := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for first := true; ; first = false {
			for _, size := range []int{1 << 16, 1 << 12} {
				for err := error(nil); err == nil; {
					_, err = f.Write(make([]byte, size))
				}
			}
			if first {
				close(full)
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	<-full
	return func() {
		close(stop)
		<-stopped
		f.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskFull: a run loses nothing when the disk fills up. It warns and continues.
// When it cannot write its vectors it fails with advice. With space again it is
// resumed to the same vectors.
func TestDiskFull(t *testing.T) {
	disk := smallDisk(t, "4m")
	r := newRun(t, "--model", "sg", "--contexts", "64", "--iterations", "600", "--checkpoint", "20", "--dim", "256")
	r.must(r.train())
	want := r.hash()
	r.out = filepath.Join(disk, "run")

	cmd := r.train()
	cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--quiet" })
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(r.out+".partial", "checkpoint", "state.safetensors")
	waitFor(t, state)
	signal := func(s syscall.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP) // filling takes time where the machine is busy
	empty := fill(t, disk)
	signal(syscall.SIGCONT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitFailed {
		t.Fatalf("exit code %d, want %d\n%s", code, cli.ExitFailed, &stderr)
	}
	for _, want := range []string{"Warning: no checkpoint after", "no space left on device", "keeps the checkpoint after", "'w2vcl resume"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &stderr)
		}
	}
	if _, err := os.Stat(state); err != nil {
		t.Errorf("the checkpoint is gone: %v", err)
	}

	// Still full: nothing changes.
	cmd = r.resume()
	if output, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(output, []byte("free, but the vectors of this run take")) {
		t.Errorf("resumed on a full disk: %v\n%s", err, output)
	}
	empty()
	r.must(r.resume())
	if r.hash() != want {
		t.Error("other vectors than undisturbed")
	}
	if got := r.files(); len(got) != 8 || !slices.Contains(got, "run/vectors.bin") {
		t.Errorf("left %q", got)
	}
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
