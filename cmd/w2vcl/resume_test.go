package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A trainingRun is a training in a folder of its own, run by a process.
type trainingRun struct {
	t    *testing.T
	out  string
	args []string // of train, but for --out
}

// newRun makes a run with a small text. It takes less than a second, half of
// that in checkpoints.
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
	for _, name := range []string{"vectors.bin", "context.bin"} {
		data, err := os.ReadFile(filepath.Join(r.out, name))
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
	want := []string{"run", "run/config.toml", "run/context.bin", "run/metrics.jsonl", "run/summary.json", "run/vectors.bin", "run/vocab.tsv"}
	if got := r.files(); !slices.Equal(got, want) {
		r.t.Errorf("left %q, want %q", got, want)
	}
}

// files lists everything below the folder of the run. It may be called while a
// process works there.
func (r *trainingRun) files() (names []string) {
	root := filepath.Dir(r.out)
	_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if name, relErr := filepath.Rel(root, path); err == nil && relErr == nil && name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return nil // what has just gone is not there
	})
	return names
}

// moments are the phases in which a process is to be killed, by a file whose
// name begins like that. They are too short for chance to hit them.
var moments = []string{
	"run.partial",                   // created
	"run.partial/config.toml",       // before the text is read
	"run.partial/vocab.tsv",         // before training
	"run.partial/checkpoint/.state", // in a checkpoint
	"run.partial/checkpoint/state",  // after one
	"run.partial/.vectors.bin.tmp",  // in the vectors
	"run.partial/.context.bin.tmp",  // between the vectors
	"run.partial/.summary.json.tmp", // in the summary
	"run.partial/summary.json",      // before the checkpoint goes
	"run.replaced",                  // between the renames
}

// killAt kills a process when a file is there, or at a random moment of its
// expected life. It reports whether it came in time.
func (r *trainingRun) killAt(cmd *exec.Cmd, moment string, after time.Duration) bool {
	r.t.Helper()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	there := func() bool {
		return moment != "" && slices.ContainsFunc(r.files(), func(name string) bool { return strings.HasPrefix(name, moment) })
	}
	already := there() // left by the process before: the random moment is taken
	for start := time.Now(); ; {
		select {
		case <-ended:
			return !cmd.ProcessState.Exited()
		default:
		}
		if time.Since(start) > after && (moment == "" || already) || !already && there() {
			_ = cmd.Process.Kill()
			<-ended
			return !cmd.ProcessState.Exited()
		}
		if moment == "" || already {
			time.Sleep(time.Millisecond)
		}
	}
}

// TestKill kills processes with SIGKILL, at random moments and in each phase of
// a run, and resumes what they left until it is done. Whatever happens, the
// vectors are those of an undisturbed run and no other file is left.
func TestKill(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 12
	}
	r := newRun(t, "--contexts", "64", "--iterations", "600", "--checkpoint", "20")
	start := time.Now()
	r.must(r.train())
	life := time.Since(start)
	want := r.hash()
	r.must(r.train("--seed", "2", "--force")) // which the killed ones are to replace
	old := r.hash()

	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, a run takes %v", seed, life)
	for try, killed, finished := 0, 0, 0; killed < kills || finished == 0; try++ {
		cmd := r.resume("--threads", fmt.Sprint(1+random.IntN(3)))
		// The old run alone: the last process was killed before it began.
		fresh := r.hash() == old && len(r.files()) == 7
		// Nor had it begun if there is no configuration yet.
		_, err := os.Stat(filepath.Join(r.out+".partial", "config.toml"))
		if fresh || err != nil && !slices.Contains(r.files(), "run.replaced") {
			cmd = r.train("--force")
		}
		if killed < kills {
			moment := ""
			if try%2 == 0 {
				moment = moments[try/2%len(moments)]
			}
			if r.killAt(cmd, moment, time.Duration(random.Float64()*float64(life))) {
				killed++
				continue
			}
			if !cmd.ProcessState.Success() {
				t.Fatalf("seed %d, after %d kills: %s: %v", seed, killed, strings.Join(cmd.Args[1:], " "), cmd.ProcessState)
			}
		} else {
			r.must(cmd)
		}
		finished++
		if got := r.hash(); got != want {
			t.Fatalf("seed %d, after %d kills: other vectors than undisturbed", seed, killed)
		}
		r.checkFiles()
		if t.Failed() {
			t.FailNow()
		}
		if killed < kills {
			r.must(r.train("--seed", "2", "--force"))
		}
	}
}

// TestSignals: the first signal saves and ends with 130, and what is resumed
// ends as if it had never come.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals to send")
	}
	for mode, flags := range map[string][]string{
		// Long enough that a signal comes before the end on a busy machine, too.
		"cl":      {"--contexts", "64", "--epochs", "600"},
		"vanilla": {"--epochs", "300"},
	} {
		r := newRun(t, append(flags, "--mode", mode)...)
		r.must(r.train())
		want := r.hash()
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			r.interrupt(r.train("--force", "--json"), signal)
			r.interrupt(r.resume("--threads", "1", "--json"), signal)
			r.must(r.resume("--threads", "3"))
			r.checkFiles()
			if r.hash() != want {
				t.Errorf("%s, %v: other vectors than undisturbed", mode, signal)
			}
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
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		r.t.Fatalf("%s, %v: exit code %d, want %d\n%s", strings.Join(cmd.Args[1:], " "), signal, code, exitInterrupted, &stderr)
	}
	if !strings.Contains(stdout.String(), `"interrupted":true`) ||
		!strings.Contains(stderr.String(), "the vectors trained until then are in") || !strings.Contains(stderr.String(), "'w2vcl resume") {
		r.t.Errorf("no word of what was saved: %s\n%s", &stdout, &stderr)
	}
	if table, err := loadTable(r.out); err != nil || table.Len() != 60 {
		r.t.Errorf("vectors of an interrupted run: %v", err)
	}
}

// TestPlanTellsThePeak holds the promise of plan: the peak of memory, within a
// tenth.
func TestPlanTellsThePeak(t *testing.T) {
	for _, flags := range [][]string{
		{"--contexts", "16"},
		{"--contexts", "16", "--optimizer", "adam-row", "--checkpoint", "2"},
		{"--mode", "vanilla", "--epochs", "1", "--batch", "32"},
	} {
		for _, threads := range []string{"1", "3"} {
			r := newRun(t)
			r.args = append([]string{r.args[0], r.args[1], "--dim", "30000", "--threads", threads}, flags...)
			var plan struct {
				Memory struct {
					Peak float64 `json:"peak"`
				} `json:"memory_bytes"`
			}
			var summary struct {
				Peak float64 `json:"peak_rss_bytes"`
			}
			r.json(w2vclCommand(t, slices.Concat([]string{"plan", "--json"}, r.args)...), &plan)
			r.json(r.train("--json"), &summary)
			if summary.Peak == 0 {
				t.Skip("memory is not known on this system")
			}
			if ratio := summary.Peak / plan.Memory.Peak; ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%v, %s threads: planned %.1f MB, took %.1f MB", flags, threads, plan.Memory.Peak/1e6, summary.Peak/1e6)
			}
		}
	}
}

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
