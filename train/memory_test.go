package train

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// TestMaxMemory: each guard refuses before the work it is for, and nothing is
// left behind.
func TestMaxMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	for _, test := range []struct {
		name   string
		change func(c *settings.Config)
		want   []string
	}{
		{"text", func(c *settings.Config) { c.MaxMemory = size(t, "1MB") }, []string{"reading the text needs about", "--max-memory allows 1 MB", "use less text"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallConfig(t, settings.ModeCL)
			test.change(&c)
			_, err := Run(t.Context(), c, Options{}, nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if got := entries(t, filepath.Dir(c.Out)); got != nil {
				t.Errorf("left %v", got)
			}
			if after := debug.SetMemoryLimit(-1); after != before {
				t.Errorf("the limit of the process is %d, was %d", after, before)
			}
		})
	}
	c := smallConfig(t, settings.ModeCL)
	small := c.Dim
	c.Dim = 1 << 16 // then training needs 5 MB more than reading
	c.MaxMemory = size(t, fmt.Sprintf("%dB", memory.Resident()+64e5))
	if _, err := Run(t.Context(), c, Options{}, nil); err == nil || !strings.Contains(err.Error(), "training needs about") || !strings.Contains(err.Error(), ", matrix M ") {
		t.Errorf("before M is built: got %v", err)
	}
	j, _ := fakeJob(t, "", 1) // three words
	j.program, j.config.Dim, j.config.Threads, j.guard = 25<<20, 1<<16, 1, memoryGuard{Guard: memory.Guard{Limit: 35e6, Asked: true}}
	j.account = trainer.Dry(func(a *trainer.Account) { _ = graph.PlanCL(a, 3, 3, j.config.GraphOptions(nil)) })
	err := j.makeTrainer()
	want := "training needs about 140 MB of memory (text 75 B, tables 1.57 MB, moments 3.15 MB, work 92.3 MB, saving 1.84 MB, garbage 9.88 MB, program 26.2 MB), but --max-memory allows 35 MB: lower --dim (now 65536), raise --min-count (now 5), or take --optimizer adam-row or rmsprop or adagrad or sgd"
	if err == nil || err.Error() != want || j.trainer != nil {
		t.Errorf("tables: got %v, want %s", err, want)
	}
	if j.unseen, err = subword.NewFit(j.text.vocabulary.Words, j.config.Dim, nil); err != nil {
		t.Fatal(err)
	}
	if err := j.makeTrainer(); err == nil || !strings.Contains(err.Error(), ", take --unseen encoder, or take --optimizer") {
		t.Errorf("fitted n-grams: got %v", err)
	}
	j.unseen = nil
	j.options.Observe, j.options.ObservationBytes = func(Observation) error { return nil }, 200e6
	if err := j.makeTrainer(); err == nil || !strings.Contains(err.Error(), ", scoring 201 MB, ") {
		t.Errorf("observations: got %v", err)
	}
	c.MaxMemory, c.Dim = size(t, "90%"), small
	if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
		t.Errorf("enough memory: %v", err)
	}
}

// TestRefusalCountsTheTextInMemory: a text may be in a file only because the limit is low.
func TestRefusalCountsTheTextInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(corpustest.Zipf(1, 400_000, 100, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := corpus.Open(t.Context(), path, corpus.Options{}, corpus.Storage{File: path + corpus.FileSuffix, Always: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	j, _ := fakeJob(t, "", 1)
	j.config.Mode, j.config.Threads = settings.ModeVanilla, 1
	j.mode, j.text, j.guard = j.config.FindMode(), newText(text), memoryGuard{Guard: memory.Guard{Limit: 1e6, Asked: true}}
	want := "(text " + terminal.Bytes(text.Vocabulary.Bytes()+text.Text().BytesInMemory()) + ","
	if err := j.check(&trainer.Account{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	j.config.Cache = t.TempDir() // there it is in a file under any limit
	if err := j.check(&trainer.Account{}); err == nil || strings.Contains(err.Error(), want) {
		t.Errorf("with a cache: %v", err)
	}
}

// TestRefusalCountsPreparing: what is used only while the trainer is made counts as far as it is more than what comes after training.
func TestRefusalCountsPreparing(t *testing.T) {
	j, _ := fakeJob(t, "", 1)
	j.guard = memoryGuard{Guard: memory.Guard{Limit: 1, Asked: true}}
	purpose, after := j.afterTraining()
	least := j.sum()
	for _, test := range []struct {
		preparing, more int64
		purpose         string
	}{{after - 1, 0, purpose}, {after, 0, purpose}, {after + 9e6, 9e6, "preparing"}} {
		j.preparing = test.preparing
		if got := j.sum(); got != least+test.more {
			t.Errorf("preparing takes %d bytes: %d in all, want %d", test.preparing, got, least+test.more)
		}
		if err := j.check(&trainer.Account{}); err == nil || !strings.Contains(err.Error(), test.purpose+" ") {
			t.Errorf("preparing takes %d bytes: %v; want %s", test.preparing, err, test.purpose)
		}
	}
}

// TestSavingTakesThePlaceOfSteps: what only steps of training have is free when the vectors are saved.
func TestSavingTakesThePlaceOfSteps(t *testing.T) {
	j, _ := fakeJob(t, "", 1)
	_, after := j.afterTraining()
	sum := func(step int64) int64 {
		j.account = trainer.Dry(func(a *trainer.Account) { a.Take(trainer.ForStep, step) })
		return j.sum()
	}
	least := sum(0)
	for _, test := range []struct{ step, more int64 }{{after / 2, 0}, {after, 0}, {after + 1e6, 1e6}} {
		if got := sum(test.step); got != least+test.more {
			t.Errorf("steps take %d bytes, saving %d: %d in all, want %d", test.step, after, got, least+test.more)
		}
	}
}
