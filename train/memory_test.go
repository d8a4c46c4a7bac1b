package train

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// TestMaxMemory: each guard refuses before the work it is for, and nothing is
// left behind.
func TestMaxMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	c := smallConfig(t, settings.ModeCL)
	c.MaxMemory = size(t, "1MB")
	if _, err := Run(t.Context(), c, Options{}, nil); err == nil || !strings.Contains(err.Error(), "reading the text needs about") || !strings.Contains(err.Error(), "--max-memory allows 1 MB: use less text") {
		t.Errorf("text: got %v", err)
	}
	if got := entries(t, filepath.Dir(c.Out)); got != nil {
		t.Errorf("left %v", got)
	}
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("the limit of the process is %d, was %d", after, before)
	}
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
	want := "training needs about 151 MB of memory (text 75 B, tables 1.57 MB, moments 3.15 MB, work 92.3 MB, program and garbage 49.1 MB), but --max-memory allows 35 MB: lower --dim (now 65536), raise --min-count (now 5), or take --optimizer adam-row or rmsprop or adagrad or sgd"
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
	c.MaxMemory, c.Dim = size(t, "90%"), small
	if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
		t.Errorf("enough memory: %v", err)
	}
}
