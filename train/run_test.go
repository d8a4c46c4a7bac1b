package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// fakeJob is a prepared job whose trainers are fake.
func fakeJob(t *testing.T, out string, units int) (j *job, trainers *[]*fakeTrainer) {
	t.Helper()
	c := settings.Defaults("", "", "", settings.ModelSkipGram)
	c.Corpus, c.Out, c.Dim, c.LR, c.ContextWeight, c.Threads = "text", out, 2, 0.006, 1, 1
	vocabulary, err := corpus.NewVocabulary([]string{"a", "b", "c"}, []uint64{3, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	trainers = new([]*fakeTrainer)
	mode, _ := settings.FindMode(c.Mode)
	j = &job{
		config: c, mode: mode, epochs: 2, executor: &processor{},
		text:    &text{fingerprint: func() uint64 { return 0 }, stats: corpus.Stats{Tokens: 9, TokensUsed: 6}},
		account: &trainer.Account{}, live: &trainer.Account{},
		newTrainer: func() (trainer.Trainer, error) {
			f := newFake(units, 3, 2)
			*trainers = append(*trainers, f)
			return f, nil
		},
	}
	j.text.setVocabulary(vocabulary)
	return j, trainers
}

func runFake(t *testing.T, ctx context.Context, j *job, p *progress.Progress) (runfolder.Summary, error) {
	t.Helper()
	folder, err := runfolder.Create(j.config.Out, j.config.Force)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	defer j.close()
	if err := j.makeTrainer(); err != nil {
		t.Fatal(err)
	}
	return j.run(ctx, folder, time.Now(), p)
}

// entries lists a folder, which need not exist.
func entries(t *testing.T, path string) []string {
	t.Helper()
	var names []string
	found, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

func TestRunLeavesAWholeFolder(t *testing.T) {
	j, trainers := fakeJob(t, filepath.Join(t.TempDir(), "run"), 40)
	var shown bytes.Buffer
	summary, err := runFake(t, t.Context(), j, progress.New(&shown))
	if err != nil {
		t.Fatal(err)
	}
	checkDone(t, j.config.Out)
	// One trainer, which trained every unit once: it is measured meanwhile.
	if all := *trainers; len(all) != 1 || len(all[0].advanced) != 40 || all[0].closed != 1 {
		t.Errorf("%d trainers were made, the first trained %v", len(all), all[0].advanced)
	}
	checkTable(t, filepath.Join(j.config.Out, runfolder.VectorsFile), 60) // W + C
	checkTable(t, filepath.Join(j.config.Out, runfolder.ContextFile), 20)
	if summary.Iterations != 40 || summary.Epochs != 2 || summary.TrainWords != 6 || summary.Loss != 1 || summary.Interrupted || summary.PeakRSS <= 0 {
		t.Errorf("summary %+v", summary)
	}
	var recorded runfolder.Summary
	data, err := os.ReadFile(filepath.Join(j.config.Out, runfolder.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &recorded); err != nil || recorded != summary {
		t.Errorf("summary.json holds %+v (%v), want %+v", recorded, err, summary)
	}
	if _, err := settings.Resolve(filepath.Join(j.config.Out, runfolder.ConfigFile), nil); err != nil {
		t.Errorf("config.toml cannot be used: %v", err)
	}
	for _, part := range []string{"Plan: mode cl, model sg, on cpu, 1 thread\n", "40 iterations (2 epochs)", "memory", "Trained: 40 iterations"} {
		if !strings.Contains(shown.String(), part) {
			t.Errorf("no %q in\n%s", part, shown.String())
		}
	}
}

func checkTable(t *testing.T, path string, want float32) {
	t.Helper()
	table, err := embedding.Load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 3 || table.Dim != 2 || table.Words[2] != "c" || table.Vector(2)[1] != want {
		t.Errorf("%s: %d words, dim %d, last vector %v, want %v", path, table.Len(), table.Dim, table.Vector(2), want)
	}
}

func TestRunExportsWordsAlone(t *testing.T) {
	j, _ := fakeJob(t, filepath.Join(t.TempDir(), "run"), 4)
	j.config.ContextWeight = 0
	if _, err := runFake(t, t.Context(), j, nil); err != nil {
		t.Fatal(err)
	}
	checkTable(t, filepath.Join(j.config.Out, runfolder.VectorsFile), 4)
}

func TestRunStoppedBeforeTraining(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	parent := t.TempDir()
	for _, progress := range []*progress.Progress{nil, progress.New(&bytes.Buffer{})} {
		j, _ := fakeJob(t, filepath.Join(parent, "run"), 40)
		_, err := runFake(t, ctx, j, progress)
		if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "nothing was saved") {
			t.Errorf("got %v", err)
		}
		if got := entries(t, parent); got != nil {
			t.Errorf("left %v", got)
		}
	}
}

// TestRunKeepsTheOldRun: whatever goes wrong, the run that --force was to
// replace is still there.
func TestRunKeepsTheOldRun(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "run")
	j, _ := fakeJob(t, out, 3)
	if _, err := runFake(t, t.Context(), j, nil); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(f *fakeTrainer){
		"loss is NaN":    func(f *fakeTrainer) { f.loss = func(int) float64 { return math.NaN() } },
		"table has NaN":  func(f *fakeTrainer) { f.w[3] = float32(math.NaN()) },
		"training fails": func(f *fakeTrainer) { f.fail = map[int]error{2: errors.New("boom")} },
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := fakeJob(t, out, 8)
			j.config.Force = true
			hooked(j, spoil)
			if _, err := runFake(t, t.Context(), j, nil); err == nil {
				t.Fatal("no error")
			}
			checkTable(t, filepath.Join(out, runfolder.VectorsFile), 4.5)
			if got := entries(t, parent); !slices.Equal(got, []string{"run"}) {
				t.Errorf("left %v", got)
			}
		})
	}
	j, _ = fakeJob(t, out, 8)
	j.config.Force = true
	if _, err := runFake(t, t.Context(), j, nil); err != nil {
		t.Fatal(err)
	}
	checkTable(t, filepath.Join(out, runfolder.VectorsFile), 12)
	if got := entries(t, parent); !slices.Equal(got, []string{"run"}) {
		t.Errorf("left %v", got)
	}
}

func TestRunWritesTheGraph(t *testing.T) {
	dir := t.TempDir()
	j, _ := fakeJob(t, filepath.Join(dir, "run"), 3)
	j.config.GraphDOT = filepath.Join(dir, "graph.dot")
	if _, err := runFake(t, t.Context(), j, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(j.config.GraphDOT); err != nil || string(got) != "digraph { w }" {
		t.Errorf("%q %v", got, err)
	}
}

func TestCheckText(t *testing.T) {
	j, _ := fakeJob(t, "", 1) // three words
	j.config.Negative = 2
	if err := j.checkText(); err != nil {
		t.Errorf("2 negatives of 3 words: %v", err)
	}
	j.config.Negative = 3
	wantUsage(t, j.checkText(), "--negative 3 needs a vocabulary of at least 4 words, but the text has 3")
	j.config.MaxVocabulary = 3
	wantUsage(t, j.checkText(), "but the text has 3 with --max-vocab 3: raise it, lower --negative, or use more text")
	// The recipe's own number is not the user's mistake.
	j.config.Negative = settings.Defaults("", "", "", settings.ModelSkipGram).Negative
	var usage *terminal.UsageError
	if err := j.checkText(); err == nil || errors.As(err, &usage) {
		t.Errorf("got %v, want an error that is not about usage", err)
	}
}
