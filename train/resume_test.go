package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// resumeFake resumes a run of fake trainers.
func resumeFake(t *testing.T, out string, units int, changes map[string]string, hook func(f *fakeTrainer), p *progress.Progress) (runfolder.Summary, *fakeTrainer, error) {
	t.Helper()
	folder, err := runfolder.Reopen(out)
	if err != nil {
		return runfolder.Summary{}, nil, err
	}
	defer folder.Close()
	j, trainers := fakeJob(t, out, units)
	defer j.close()
	if err := j.open(folder, changes, nil); err != nil {
		return runfolder.Summary{}, nil, err
	}
	if err := j.makeTrainer(); err != nil {
		t.Fatal(err)
	}
	f := (*trainers)[0]
	if hook != nil {
		hook(f)
	}
	summary, err := j.run(t.Context(), folder, time.Now(), p)
	return summary, f, err
}

// hooked makes the job's trainers after hook has seen them.
func hooked(j *job, hook func(f *fakeTrainer)) {
	fresh := j.newTrainer
	j.newTrainer = func() (trainer.Trainer, error) {
		trainer, err := fresh()
		hook(trainer.(*fakeTrainer))
		return trainer, err
	}
}

// at calls do before a unit is trained.
func at(unit int, do func()) func(f *fakeTrainer) {
	return func(f *fakeTrainer) {
		f.hook = func(_ context.Context, u int) {
			if u == unit {
				do()
			}
		}
	}
}

var wholeFolder = []string{runfolder.ChecksumsFile, runfolder.ConfigFile, runfolder.ContextFile, runfolder.MetricsFile, runfolder.SummaryFile, runfolder.VectorsFile, runfolder.VocabularyFile}

// checkDone checks that a run is whole and that nothing lies beside it.
func checkDone(t *testing.T, out string) {
	t.Helper()
	positions := func(name string) bool { return name == runfolder.PositionsFile }
	if got := slices.DeleteFunc(entries(t, out), positions); !slices.Equal(got, wholeFolder) {
		t.Errorf("run folder holds %v, want %v", got, wholeFolder)
	}
	if got := entries(t, filepath.Dir(out)); !slices.Equal(got, []string{filepath.Base(out)}) {
		t.Errorf("beside the run folder: %v", got)
	}
}

// interruptFake runs a fake job of 40 iterations until it has trained 10.
func interruptFake(t *testing.T) (out string, summary runfolder.Summary, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out = filepath.Join(t.TempDir(), "run")
	j, _ := fakeJob(t, out, 40)
	hooked(j, at(9, cancel))
	summary, err = runFake(t, ctx, j, nil)
	return out, summary, err
}

func TestResumeAfterInterrupt(t *testing.T) {
	out, summary, err := interruptFake(t)
	if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "after 10 of 40 iterations") || !strings.Contains(err.Error(), "'w2vcl resume") {
		t.Fatalf("got %v", err)
	}
	if !summary.Interrupted || summary.Iterations != 10 || summary.Epochs != 0.5 {
		t.Errorf("summary %+v", summary)
	}
	checkTable(t, filepath.Join(out, runfolder.VectorsFile), 15)
	var shown bytes.Buffer
	summary, f, err := resumeFake(t, out, 40, nil, nil, progress.New(&shown))
	if err != nil {
		t.Fatal(err)
	}
	checkDone(t, out)
	checkTable(t, filepath.Join(out, runfolder.VectorsFile), 60)
	if first := f.advanced[len(f.advanced)-30]; first != 10 || f.advanced[len(f.advanced)-1] != 39 {
		t.Errorf("trained %v, want the last 30 from unit 10", f.advanced)
	}
	if summary.Interrupted || summary.Iterations != 40 || summary.Epochs != 2 || !strings.Contains(shown.String(), "Resuming after 10 of 40 iterations\n") {
		t.Errorf("summary %+v\n%s", summary, &shown)
	}
	lines := readMetrics(t, string(mustRead(t, filepath.Join(out, runfolder.MetricsFile))))
	for i, line := range lines {
		if line.Unit != i+1 || i > 0 && line.Seconds < lines[i-1].Seconds {
			t.Errorf("line %d of the metrics is %+v", i+1, line)
		}
	}
	if len(lines) != 40 {
		t.Errorf("%d lines of metrics, want 40", len(lines))
	}
	if _, _, err := resumeFake(t, filepath.Join(filepath.Dir(out), "none"), 40, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "there is no such run") {
		t.Errorf("no run: %v", err)
	}
}

// TestFailureBeforeTrainingKeepsTheCheckpoint: a resumed run that cannot begin says how to go on.
func TestFailureBeforeTrainingKeepsTheCheckpoint(t *testing.T) {
	out, _, err := interruptFake(t)
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
	boom := errors.New("boom")
	_, _, err = resumeFake(t, out, 40, nil, func(f *fakeTrainer) { f.ready = boom }, nil)
	if want := "run.partial keeps the checkpoint after 10 iterations: when the cause is gone, 'w2vcl resume " + out + "' goes on"; !errors.Is(err, boom) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, f, err := resumeFake(t, out, 40, nil, nil, nil); err != nil || len(f.advanced) < 30 {
		t.Errorf("resumed: %v", err)
	}
	checkDone(t, out)
}

// TestLoopGoesOnAsIfUndisturbed compares the metrics byte by byte: seconds,
// speeds and lines that an interrupt fell into.
func TestLoopGoesOnAsIfUndisturbed(t *testing.T) {
	loss := func(unit int) float64 { return float64(unit % 7) }
	fresh := func() *fakeTrainer {
		f := newFake(1001, 1, 1) // 6 units a line
		f.loss = loss
		return f
	}
	var whole bytes.Buffer
	want, err := testLoop(fresh(), &whole).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []int{0, 4, 5, 6, 500, 999} {
		path := filepath.Join(t.TempDir(), "run", "state.safetensors")
		lines := filepath.Join(t.TempDir(), runfolder.MetricsFile)
		metrics, err := runfolder.OpenMetrics(lines, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f := fresh()
		at(stop, cancel)(f)
		l := testLoop(f, nil)
		l.metrics, l.saver = metrics, &saver{path: path, run: runfolder.Checkpoint{Units: 1001, Corpus: corpus.Hex(0), Vocabulary: corpus.Hex(1)}, trainer: f, metrics: metrics}
		if got, err := l.run(ctx); err != nil || !got.Interrupted || got.Units != stop+1 {
			t.Fatalf("stop after %d: %+v, %v", stop+1, got, err)
		}
		if err := metrics.Finish(); err != nil {
			t.Fatal(err)
		}
		saved, err := runfolder.OpenCheckpoint(path)
		if err != nil {
			t.Fatal(err)
		}
		f = fresh()
		if err := saved.Load(f); err != nil {
			t.Fatal(err)
		}
		if metrics, err = runfolder.OpenMetrics(lines, saved.Metrics); err != nil {
			t.Fatal(err)
		}
		l = testLoop(f, nil)
		l.metrics, l.from = metrics, saved.Position
		if got, err := l.run(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("stop after %d: outcome %+v, %v; want %+v", stop+1, got, err, want)
		}
		if got := mustRead(t, lines); !bytes.Equal(got, whole.Bytes()) {
			t.Errorf("stop after %d: the metrics are not those of an undisturbed run", stop+1)
		}
		metrics.Close()
	}
}

func TestFailureKeepsTheCheckpoint(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name  string
		spoil func(f *fakeTrainer, partial string)
		from  int // where resume goes on
		want  []string
		lr    string
	}{
		{"training fails", func(f *fakeTrainer, _ string) { f.fail = map[int]error{20: boom} }, 14,
			[]string{"boom", "iteration 21 of 40", "checkpoint after 14 iterations", "'w2vcl resume"}, ""},
		{"loss is NaN", func(f *fakeTrainer, _ string) {
			f.loss = func(unit int) float64 { return map[bool]float64{true: math.NaN()}[unit == 20] }
		}, 14, []string{"diverged", "NaN", "iteration 21 of 40", "checkpoint after 14 iterations", "--lr 0.0006"}, "0.0006"},
		{"table has infinity when the next checkpoint is due", func(f *fakeTrainer, _ string) {
			at(20, func() { f.c[1] = float32(math.Inf(1)) })(f)
		}, 14, []string{"diverged", "tensor c has values that are not finite", "checkpoint after 14 iterations", "--lr"}, "0.001"},
		{"table has NaN at the end", func(f *fakeTrainer, _ string) {
			at(37, func() { f.w[1] = float32(math.NaN()) })(f)
		}, 35, []string{"diverged", "not sound", "checkpoint after 35 iterations", "--lr"}, "0.001"},
		{"vectors cannot be written", func(f *fakeTrainer, partial string) {
			at(37, func() { _ = os.MkdirAll(filepath.Join(partial, runfolder.VectorsFile, "full"), 0o755) })(f)
		}, 40, []string{runfolder.VectorsFile, "checkpoint after 40 iterations", "'w2vcl resume"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "run")
			j, _ := fakeJob(t, out, 40)
			j.config.Checkpoint = interval(t, "7")
			hooked(j, func(f *fakeTrainer) { test.spoil(f, out+".partial") })
			_, err := runFake(t, t.Context(), j, nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if got := entries(t, filepath.Dir(out)); !slices.Equal(got, []string{"run.partial"}) {
				t.Fatalf("left %v", got)
			}
			if err := os.RemoveAll(filepath.Join(out+".partial", runfolder.VectorsFile)); err != nil {
				t.Fatal(err)
			}
			changes := map[string]string{}
			if test.lr != "" {
				changes["lr"] = test.lr
			}
			var shown bytes.Buffer
			_, f, err := resumeFake(t, out+".partial", 40, changes, nil, progress.New(&shown))
			if err != nil {
				t.Fatal(err)
			}
			checkDone(t, out)
			checkTable(t, filepath.Join(out, runfolder.VectorsFile), 60)
			if len(f.advanced) != 40-test.from {
				t.Errorf("trained %v, want what comes after %d", f.advanced, test.from)
			}
			if test.lr != "" && !strings.Contains(shown.String(), "--lr is "+test.lr+" from here on; it was 0.006") {
				t.Errorf("no word of the learning rate:\n%s", &shown)
			}
			if config := mustRead(t, filepath.Join(out, runfolder.ConfigFile)); test.lr != "" && !bytes.Contains(config, []byte("lr = "+test.lr)) {
				t.Errorf("the learning rate was not recorded:\n%s", config)
			}
		})
	}
}

// TestCheckpointThatCannotBeWritten: training goes on, says so once, and writes
// the next one.
func TestCheckpointThatCannotBeWritten(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	folder := filepath.Join(out+".partial", "checkpoint")
	var before, during []byte
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	j, _ := fakeJob(t, out, 40)
	j.config.Checkpoint = interval(t, "7")
	hooked(j, func(f *fakeTrainer) {
		f.hook = func(_ context.Context, unit int) {
			switch {
			case unit == 10 && exists(folder):
				before = mustRead(t, filepath.Join(folder, "state.safetensors"))
				// A folder stands where the file is to be renamed to.
				check(os.Rename(folder, folder+"2"))
				check(os.MkdirAll(filepath.Join(folder, "state.safetensors", "x"), 0o755))
			case unit == 30:
				check(os.RemoveAll(folder))
				check(os.Rename(folder+"2", folder))
				during = mustRead(t, filepath.Join(folder, "state.safetensors"))
			case unit == 39:
				saved, err := runfolder.OpenCheckpoint(filepath.Join(folder, "state.safetensors"))
				if err != nil || saved.Position.Units != 35 {
					t.Errorf("the last checkpoint is %+v, %v", saved, err)
				}
				saved.Close()
			}
		}
	})
	var shown bytes.Buffer
	if _, err := runFake(t, t.Context(), j, progress.New(&shown)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, during) || len(before) == 0 {
		t.Error("the checkpoint that was whole changed")
	}
	if strings.Count(shown.String(), "Warning: no checkpoint after 14 iterations: ") != 1 || strings.Count(shown.String(), "Warning") != 1 ||
		!strings.Contains(shown.String(), "Checkpoints are written again, after 35 iterations") {
		t.Errorf("shown\n%s", &shown)
	}
	checkDone(t, out)
}

// cancelWriter cancels when it is told that training is under way.
type cancelWriter struct {
	io.Writer
	cancel func()
}

func (w cancelWriter) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("training ")) {
		w.cancel()
	}
	return w.Writer.Write(p)
}

// interruptRun trains a few units of a run.
func interruptRun(t *testing.T, c settings.Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := progress.New(cancelWriter{io.Discard, cancel})
	p.Every = 0
	if _, err := Run(ctx, c, Options{NoPlan: true}, p); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("got %v, want an interrupt", err)
	}
}

// longerConfig is smallConfig with several units in either mode.
func longerConfig(t *testing.T, mode string) settings.Config {
	c := smallConfig(t, mode)
	if mode != settings.ModeCL && mode != onStretches {
		c.Epochs = 5
	}
	return c
}

func hashOf(t *testing.T, out string) string {
	t.Helper()
	hash := sha256.New()
	for _, name := range []string{runfolder.VectorsFile, runfolder.ContextFile, runfolder.VocabularyFile} {
		hash.Write(mustRead(t, filepath.Join(out, name)))
	}
	if positions := filepath.Join(out, runfolder.PositionsFile); exists(positions) {
		hash.Write(mustRead(t, positions))
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// hashOfRun trains in a folder of its own.
func hashOfRun(t *testing.T, c settings.Config) string {
	t.Helper()
	c.Out = filepath.Join(t.TempDir(), "run")
	if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	return hashOf(t, c.Out)
}

// checkResumed interrupts a run, in a folder of its own, and resumes it with changes. It ends as one that was not disturbed.
func checkResumed(t *testing.T, c settings.Config, want string, changes map[string]string) {
	t.Helper()
	c.Out = filepath.Join(t.TempDir(), "run")
	interruptRun(t, c)
	if _, err := Resume(t.Context(), nil, c.Out, changes, nil, nil); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, c.Out) != want {
		t.Errorf("mode %s, resumed: other vectors than undisturbed", c.Mode)
	}
}

// TestResumeIsExact: any number of threads (one, for sentence-ordered modes),
// with and without an interrupt in the middle, a text that moved: the same bits.
func TestResumeIsExact(t *testing.T) {
	const hierarchical = "word2vec, hierarchical"
	for _, mode := range append(allModes(), hierarchical) {
		optimizers, threadCounts := []string{string(optim.Adam), string(optim.AdamRow), string(optim.AdaGrad), string(optim.SGD)}, []string{"1", "2", "3", "7"}
		switch {
		case mode == settings.ModePPMI:
			continue // six words are one unit; package cooccurrence interrupts more
		case mode == settings.ModeGloVe:
			optimizers = optimizers[:1]
		case slices.Contains(sequentialModes, mode), mode == hierarchical:
			optimizers, threadCounts = optimizers[:1], threadCounts[:1]
		case testing.Short():
			optimizers, threadCounts = optimizers[:1], threadCounts[2:3]
		}
		for i, optimizer := range optimizers {
			if i > 0 { // any number of threads trains the same with each: package graph
				threadCounts = []string{"3"}
			}
			t.Run(mode+" "+optimizer, func(t *testing.T) {
				t.Parallel()
				c := longerConfig(t, strings.TrimSuffix(mode, ", hierarchical"))
				c.Optimizer, c.HierarchicalSoftmax = optimizer, mode == hierarchical
				if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
					t.Fatal(err)
				}
				want := hashOf(t, c.Out)
				for _, threads := range threadCounts {
					d := c
					d.Threads = int(threads[0] - '0')
					if hashOfRun(t, d) != want {
						t.Errorf("%s threads: other vectors", threads)
					}
					d.Out, d.Threads = filepath.Join(t.TempDir(), "run"), c.Threads
					interruptRun(t, d)
					moved := writeFile(t, "moved", smallText())
					changes := map[string]string{"threads": threads, "corpus": moved}
					if _, err := Resume(t.Context(), nil, d.Out, changes, nil, nil); err != nil {
						t.Fatal(err)
					}
					checkDone(t, d.Out)
					if got := hashOf(t, d.Out); got != want {
						t.Errorf("resumed on %s threads: other vectors than undisturbed", threads)
					}
					if config := mustRead(t, filepath.Join(d.Out, runfolder.ConfigFile)); !bytes.Contains(config, []byte("threads = "+threads)) {
						t.Errorf("changes were not recorded:\n%s", config)
					}
					if _, err := Resume(t.Context(), nil, d.Out, nil, nil, nil); !errors.Is(err, ErrComplete) {
						t.Errorf("once more: %v", err)
					}
				}
			})
		}
	}
}

// TestResumeRefuses what would not be the same run, and leaves all as it is.
func TestResumeRefuses(t *testing.T) {
	swapped := strings.Replace(smallText(), "red green blue red blue green\none", "green red blue red blue green\none", 1)
	edit := func(from, to string) func(t *testing.T, out string) {
		return func(t *testing.T, out string) {
			path := filepath.Join(out, runfolder.ConfigFile)
			text := string(mustRead(t, path))
			if !strings.Contains(text, from) {
				t.Fatalf("no %q in\n%s", from, text)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(text, from, to, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(out, runfolder.ChecksumsFile)); err != nil { // the change is on purpose
				t.Fatal(err)
			}
		}
	}
	state := func(change func(data []byte) []byte) func(t *testing.T, out string) {
		return func(t *testing.T, out string) {
			path := filepath.Join(out, runfolder.CheckpointFile)
			if err := os.WriteFile(path, change(mustRead(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, out string)
		text  string // "": as it was
		want  string
	}{
		{"another word", nil, strings.Replace(smallText(), "red", "brown", 1), "the words of the text, or how often they occur, changed"},
		{"two words swapped", nil, swapped, "the text changed"},
		{"no text", nil, "-", "there is no such file"},
		{"setting of the model", edit("negative = 2", "negative = 3"), "", "negative 2 until now, but its config.toml says 3"},
		{"seed", edit("seed = 1", "seed = 2"), "", "seed 1 until now"},
		{"text is read in another way", edit("min-count = 5", "min-count = 4"), "", "min-count 5 until now"},
		{"setting that is none", edit("dim = 4", "dims = 4"), "", "unknown setting"},
		{"no settings", func(t *testing.T, out string) { os.Remove(filepath.Join(out, runfolder.ConfigFile)) }, "", "holds no config.toml"},
		{"checkpoint cut", state(func(d []byte) []byte { return d[:len(d)-1] }), "", "bytes instead of"},
		{"checkpoint too long", state(func(d []byte) []byte { return append(d, 0) }), "", "bytes instead of"},
		{"checkpoint cut in the header", state(func(d []byte) []byte { return d[:50] }), "", "cannot be used"},
		{"checkpoint empty", state(func([]byte) []byte { return nil }), "", "cannot be used"},
		{"value changed", state(func(d []byte) []byte { d[len(d)-20] ^= 1; return d }), "", "its data are not what was written"},
		{"another version", state(func(d []byte) []byte { return bytes.Replace(d, []byte(`\"version\":1`), []byte(`\"version\":9`), 1) }), "", "header is not what was written"},
		{"not of w2vcl", state(func(d []byte) []byte { return bytes.Replace(d, []byte(`"w2vcl"`), []byte(`"other"`), 1) }), "", "header is not what was written"},
		{"another tensor", state(func(d []byte) []byte { return bytes.Replace(d, []byte(`"words"`), []byte(`"wards"`), 1) }), "", "header is not what was written"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallConfig(t, settings.ModeCL)
			interruptRun(t, c)
			changes := map[string]string{}
			switch test.text {
			case "":
			case "-":
				changes["corpus"] = filepath.Join(t.TempDir(), "none")
			default:
				changes["corpus"] = writeFile(t, "text", test.text)
			}
			if test.spoil != nil {
				test.spoil(t, c.Out)
			}
			before := snapshot(t, filepath.Dir(c.Out))
			_, err := Resume(t.Context(), nil, c.Out, changes, nil, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
			if after := snapshot(t, filepath.Dir(c.Out)); after != before {
				t.Errorf("was\n%s\nis\n%s", before, after)
			}
		})
	}
}

// snapshot lists all files below a folder with a hash of what they hold.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		fmt.Fprintf(&list, "%x %s\n", sha256.Sum256(mustRead(t, path)), path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// TestResumeStoppedBeforeTraining leaves the folder as it was and is an
// interrupt, not a failure: everything that was trained is saved.
func TestResumeStoppedBeforeTraining(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	interruptRun(t, c)
	before := snapshot(t, filepath.Dir(c.Out))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Resume(ctx, nil, c.Out, nil, nil, nil); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "is unchanged") {
		t.Errorf("got %v", err)
	}
	if after := snapshot(t, filepath.Dir(c.Out)); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}

func TestResumeReadsBuiltInText(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.Corpus = "a name"
	ctx, cancel := context.WithCancel(t.Context())
	p := progress.New(cancelWriter{io.Discard, cancel})
	p.Every = 0
	if _, err := Run(ctx, c, Options{Source: strings.NewReader(smallText()), NoPlan: true}, p); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
	source := func(name string) Options {
		if name != "a name" {
			t.Errorf("asked for %q", name)
		}
		return Options{Source: strings.NewReader(smallText())}
	}
	if _, err := Resume(t.Context(), nil, c.Out, nil, source, nil); err != nil {
		t.Fatal(err)
	}
	if config := mustRead(t, filepath.Join(c.Out, runfolder.ConfigFile)); !bytes.Contains(config, []byte(`corpus = "a name"`)) {
		t.Errorf("recorded\n%s", config)
	}
}

// TestCheckpointFile: a checkpoint has tables, moments and metadata.
func TestCheckpointFile(t *testing.T) {
	c := smallConfig(t, settings.ModeVanilla)
	c.Epochs = 3
	interruptRun(t, c)
	saved, err := runfolder.OpenCheckpoint(filepath.Join(c.Out, runfolder.CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	names := tensorNames(t, filepath.Join(c.Out, runfolder.CheckpointFile))
	if want := []string{"words", "words.first-moment", "words.second-moment", "contexts", "contexts.first-moment", "contexts.second-moment", "minibatches"}; !slices.Equal(names, want) {
		t.Errorf("tensors %v, want %v", names, want)
	}
	var keys map[string]any
	text, err := json.Marshal(saved.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "units", "corpus", "vocabulary", "settings", "position", "metrics_bytes"} {
		if keys[key] == nil {
			t.Errorf("no %s in %s", key, text)
		}
	}
	if saved.Units != 3 || saved.Position.Units != 1 || saved.Settings["dim"] != "4" || len(saved.Corpus) != 16 || len(saved.Vocabulary) != 16 {
		t.Errorf("checkpoint %s", text)
	}
}

// TestStretchesCheckpoint: the tensors of training on stretches have their names.
func TestStretchesCheckpoint(t *testing.T) {
	for subword, words := range map[string][]string{
		"none":  {"words", "words.first-moment", "words.second-moment"},
		"ngram": {runfolder.ComposedWords, "parts", "parts.first-moment", "parts.second-moment", "parts.updates", "words", "words.first-moment", "words.second-moment"},
		"cnn":   nil,
	} {
		c := smallConfig(t, onStretches)
		if subword != settings.SubwordNone {
			c = subwordConfig(t, onStretches, subword)
		}
		interruptRun(t, c)
		names := tensorNames(t, filepath.Join(c.Out, runfolder.CheckpointFile))
		want := slices.Concat(words, []string{"contexts", "contexts.first-moment", "contexts.second-moment", "contexts.updates",
			"positions", "positions.first-moment", "positions.second-moment"})
		if words == nil { // the encoder's own come first
			names = names[max(len(names)-len(want), 0):]
		}
		if !slices.Equal(names, want) {
			t.Errorf("--subword %s: tensors %v, want %v", subword, names, want)
		}
	}
}

// tensorNames lists the tensors of a file.
func tensorNames(t *testing.T, path string) (names []string) {
	for _, tensor := range savedTensors(t, path) {
		names = append(names, tensor.Name)
	}
	return names
}

// savedTensors returns the tensors of a file.
func savedTensors(t *testing.T, path string) (all []trainer.Tensor) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := safetensors.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range content.Tensors {
		values := make([]float32, tensor.Size/4)
		if err := safetensors.ReadFloats(content, values); err != nil {
			t.Fatal(err)
		}
		all = append(all, trainer.Tensor{Name: tensor.Name, Data: values})
	}
	return all
}

// TestVectorsOfACheckpoint: a run answers with the vectors of its checkpoint, which are those that it would leave there.
func TestVectorsOfACheckpoint(t *testing.T) {
	for _, mode := range []string{onStretches, string(sequential.PWord2Vec)} {
		c := longerConfig(t, mode)
		c.Subword, c.Buckets, c.SubwordLR = settings.SubwordNGram, 1000, 1
		interruptRun(t, c)
		want, err := embedding.Load(t.Context(), filepath.Join(c.Out, runfolder.VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(c.Out, runfolder.VectorsFile)); err != nil {
			t.Fatal(err)
		}
		got, err := runfolder.LoadTable(t.Context(), c.Out)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if !slices.Equal(got.Words, want.Words) || !slices.Equal(got.Vectors, want.Vectors) {
			t.Errorf("%s: the checkpoint has other vectors", mode)
		}
	}
}

// A finished run that kept its checkpoint goes on as if it had been longer from the start, where the learning rate stays.
func TestResumeExtends(t *testing.T) {
	for _, test := range []struct {
		mode, length, short, long string
		same                      bool // the longer run has the same units
	}{
		{"cl --model cbow", "iterations", "6", "12", true}, {"cl --model cbow", "epochs", "2", "4", true}, {"cl --model sg", "iterations", "6", "12", true},
		{"cl --model sg", "epochs", "1", "2", true}, {"cl --model sg", "budget", "1000pairs", "3000pairs", true}, {"vanilla", "epochs", "2", "3", true},
		{"word2vec", "epochs", "2", "3", true}, {"fullw2v", "epochs", "1", "3", true}, {"word2vec", "budget", "1000words", "3000words", false},
		{"psgnscc", "epochs", "1", "2", false}, {"glove", "epochs", "2", "5", true},
	} {
		run := func(value, checkpoint string) string {
			return startRun(t, test.mode, "", "decay", "none", "lr-end", "0", "checkpoint", checkpoint, test.length, value)
		}
		extended := run(test.short, "keep")
		for i, reason := range []string{"", "has trained", "kept no checkpoint"} {
			out := extended
			if i == 2 {
				out = run(test.short, "0")
			}
			var notes bytes.Buffer
			_, err := Resume(t.Context(), nil, out, map[string]string{test.length: test.long}, nil, progress.New(&notes))
			if (err == nil) != (reason == "") || err != nil && !strings.Contains(err.Error(), reason) {
				t.Fatalf("%v: error %v, want %q", test, err, reason)
			}
			if want := "the learning rate goes on at"; strings.Contains(notes.String(), want) != (err == nil) {
				t.Errorf("%v: %q in\n%s", test, want, &notes)
			}
		}
		if hashOf(t, extended) != hashOf(t, run(test.long, "0")) && test.same {
			t.Errorf("%v: extended, other vectors", test)
		}
	}
}
