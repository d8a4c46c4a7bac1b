package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// A trainingRun is a training in a folder of its own, run by a process.
type trainingRun struct {
	t    *testing.T
	out  string
	args []string // of train, but for --out
}

// newRun returns a run on a small text. It takes less than a second, half of it for
// checkpoints.
func newRun(t *testing.T, flags ...string) *trainingRun {
	t.Helper()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, makeText(20000, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "runs", "run")
	if err := os.Mkdir(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	return &trainingRun{t: t, out: out, args: append([]string{"--corpus", text, "--dim", "24", "--quiet"}, flags...)}
}

func (r *trainingRun) train(flags ...string) *exec.Cmd {
	return w2vclCommand(r.t, slices.Concat([]string{"train", "--out", r.out}, r.args, flags)...)
}

func (r *trainingRun) resume(flags ...string) *exec.Cmd {
	return w2vclCommand(r.t, append([]string{"resume", r.out, "--quiet"}, flags...)...)
}

// must runs a command that must succeed.
func (r *trainingRun) must(cmd *exec.Cmd) {
	r.t.Helper()
	if output, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, output)
	}
}

// hash is the SHA-256 of the run's tables, "" if there is no run.
func (r *trainingRun) hash() string {
	r.t.Helper()
	hash := sha256.New()
	for _, name := range []string{"vectors.bin", "context.bin", "positions.bin"} {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if errors.Is(err, fs.ErrNotExist) && name == "positions.bin" { // of one model
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		if err != nil {
			r.t.Fatal(err)
		}
		hash.Write(data)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// checkFiles checks that the run is whole and nothing else is there.
func (r *trainingRun) checkFiles() {
	r.t.Helper()
	want := []string{"run", "run/checksums.txt", "run/config.toml", "run/context.bin", "run/metrics.jsonl", "run/summary.json", "run/vectors.bin", "run/vocab.tsv"}
	positions := func(name string) bool { return name == "run/positions.bin" }
	if got := slices.DeleteFunc(r.files(), positions); !slices.Equal(got, want) {
		r.t.Errorf("left %q, want %q", got, want)
	}
}

// files lists everything below the folder of the run, also while a process works
// there.
func (r *trainingRun) files() (names []string) {
	root := filepath.Dir(r.out)
	_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if name, relErr := filepath.Rel(root, path); err == nil && relErr == nil && name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return nil // files may go in the meantime
	})
	return names
}

// TestSignals: the first signal saves the run and ends it with exit code 130. A resumed
// run ends as if no signal had come. Each mode and each command gets both signals.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals to send")
	}
	for _, x := range []struct {
		first, second os.Signal
		flags         []string // long enough for a signal before the end, even on a busy machine
	}{
		{os.Interrupt, syscall.SIGTERM, []string{"--mode", "cl", "--model", "sg", "--contexts", "64", "--epochs", "120", "--positives", "2", "--shared-negatives", "4"}},
		{syscall.SIGTERM, os.Interrupt, []string{"--mode", "cl", "--subword", "none", "--batch", "200", "--iterations", "1200"}},
		{syscall.SIGTERM, os.Interrupt, []string{"--mode", "vanilla", "--epochs", "400"}},
	} {
		r := newRun(t, x.flags...)
		r.must(r.train())
		want := r.hash()
		r.interrupt(r.train("--force", "--json"), x.first)
		r.interrupt(r.resume("--threads", "1", "--json"), x.second)
		r.must(r.resume("--threads", "3"))
		r.checkFiles()
		if r.hash() != want {
			t.Errorf("%q: other vectors than undisturbed", x.flags)
		}
	}
}

// interrupt signals a process that trains.
func (r *trainingRun) interrupt(cmd *exec.Cmd, signal os.Signal) {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	waitFor(r.t, filepath.Join(r.out+".partial", "metrics.jsonl"))
	if err := cmd.Process.Signal(signal); err != nil {
		r.t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
		r.t.Fatalf("%s, %v: exit code %d, want %d\n%s", strings.Join(cmd.Args[1:], " "), signal, code, cli.ExitInterrupted, &stderr)
	}
	if !strings.Contains(stdout.String(), `"interrupted":true`) ||
		!strings.Contains(stderr.String(), "the vectors trained until then are in") || !strings.Contains(stderr.String(), "'w2vcl resume") {
		r.t.Errorf("it does not say that vectors were saved: %s\n%s", &stdout, &stderr)
	}
	if table, err := runfolder.LoadTable(r.t.Context(), r.out); err != nil || table.Len() != 60 {
		r.t.Errorf("vectors of an interrupted run: %v", err)
	}
}

// raceEnabled says that the race detector is on, see race_test.go.
var raceEnabled bool

// json runs a command and reads what it prints.
func (r *trainingRun) json(cmd *exec.Cmd, v any) {
	r.t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(output, v)
	}
	if err != nil {
		r.t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args[1:], " "), err, output, &stderr)
	}
}
