package compare

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A cancelWriter calls cancel when something with text in it is written.
type cancelWriter struct {
	text   string
	cancel func()
	log    bytes.Buffer
}

func (w *cancelWriter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.text)) {
		w.cancel()
	}
	return w.log.Write(p)
}

// TestInterruptedComparison interrupts between and within runs. The comparison
// continues and ends like one that was never disturbed.
func TestInterruptedComparison(t *testing.T) {
	modes := []string{settings.ModeCL, string(sequential.PWord2Vec)}
	undisturbed := smallComparison(t, modes...)
	want := summarized(t, undisturbed, nil)
	for _, text := range []string{"Matrix M", "[2 of", "[3 of", "[4 of", "Judging"} {
		o := smallComparison(t, modes...)
		ctx, cancel := context.WithCancel(t.Context())
		w := &cancelWriter{text: text, cancel: cancel}
		f, err := Execute(ctx, o, Means{Progress: progress.New(w)})
		cancel()
		if err == nil || !errors.Is(err, train.ErrInterrupted) {
			t.Errorf("interrupted at %q: error %v\n%s", text, err, &w.log)
			continue
		}
		checkUnfinished(t, f, map[string]int{"[2 of": 1, "[3 of": 2, "[4 of": 3}[text], len(want.Runs))
		got := summarized(t, o, nil)
		for i := range want.Variants {
			for k := range want.Variants[i].Scores {
				if got.Variants[i].Scores[k].Mean != want.Variants[i].Scores[k].Mean {
					t.Errorf("interrupted at %q: %s has other scores", text, want.Variants[i].Name)
				}
			}
			if len(got.Variants[i].Curve) != len(want.Variants[i].Curve) {
				t.Errorf("interrupted at %q: %d points, want %d", text, len(got.Variants[i].Curve), len(want.Variants[i].Curve))
			}
		}
	}
}

// checkUnfinished checks the report of an interrupted comparison: of its finished runs, with the
// names of the others. Each of three variants has its first run before one has its second.
func checkUnfinished(t *testing.T, f *Finished, finished, all int) {
	t.Helper()
	if finished == 0 {
		if f != nil {
			t.Errorf("%d runs are finished; want none", len(f.Records))
		}
		return
	}
	r, err := Summarize(f, "version", "command")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != finished || len(r.Missing) != all-finished || len(r.Variants) != min(finished, 3) {
		t.Errorf("a report of %d runs in %d variants, without %q; want %d of %d runs", len(r.Runs), len(r.Variants), r.Missing, finished, all)
	}
	out := t.TempDir()
	if err := r.Write(out); err != nil {
		t.Fatal(err)
	}
	if page := read(t, filepath.Join(out, PageFile)); !strings.Contains(page, "left out: "+strings.Join(r.Missing, "; ")+".") {
		t.Errorf("the page does not name %q", r.Missing)
	}
}

// TestInterruptedRun stops a run after its first observation. The run continues from
// there, and no observation is doubled or lost.
func TestInterruptedRun(t *testing.T) {
	o := smallComparison(t, settings.ModeCL)
	o.Seeds, o.Points, o.Settings["contexts"] = 1, 4, "4000"
	undisturbed := o
	undisturbed.Out = filepath.Join(t.TempDir(), "undisturbed")
	want := summarized(t, undisturbed, nil)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watched := make(chan bool)
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			data, err := os.ReadFile(filepath.Join(o.Out, experiment.RunsFolder, "cl-seed1.json"))
			if err == nil && bytes.Contains(data, []byte(`"share"`)) {
				cancel()
			}
		}
	}()
	_, err := Execute(ctx, o, Means{})
	cancel()
	<-watched
	if !errors.Is(err, train.ErrInterrupted) {
		t.Skipf("the run was faster than the test: %v", err)
	}
	var shown bytes.Buffer
	got := summarized(t, o, progress.New(&shown))
	if !strings.Contains(shown.String(), "Resuming after") {
		t.Errorf("the run was not resumed:\n%s", &shown)
	}
	first, second := want.Runs[0], got.Runs[0]
	if len(second.Points) != len(first.Points) {
		t.Fatalf("%d observations, want %d", len(second.Points), len(first.Points))
	}
	for i, p := range first.Points {
		q := second.Points[i]
		if q.Units != p.Units || !slices.Equal(q.Scores, p.Scores) || q.Bands[0] != p.Bands[0] {
			t.Errorf("observation %d is of %d units, want %d, or its numbers differ", i, q.Units, p.Units)
		}
	}
}

func TestAnotherComparisonIsRefused(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec))
	o.Seeds = 1
	summarized(t, o, nil)
	text := read(t, o.Settings["corpus"])
	write := func(text string) {
		if err := os.WriteFile(o.Settings["corpus"], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, change := range map[string]func(o *experiment.Options){
		"--dim 8, not 9":            func(o *experiment.Options) { o.Settings["dim"] = "9" },
		"--budget recipe, not":      func(o *experiment.Options) { o.Budget = experiment.Budget{Kind: experiment.BudgetSeconds, Amount: 1} },
		"--points 3, not 4":         func(o *experiment.Options) { o.Points = 4 },
		"has other evaluation sets": func(o *experiment.Options) { o.Data = filepath.Join(o.Data, "pairs.txt") },
		"has another text":          func(*experiment.Options) { write(text + "w1 w2 w3 w4 w5\n") },
	} {
		changed := o
		changed.Settings = map[string]string{"corpus": o.Settings["corpus"], "dim": "8", "threads": "1"}
		change(&changed)
		_, err := Execute(t.Context(), changed, Means{})
		write(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestKilledBeforeTheRunBegan: a kill can leave an empty folder of a run in
// progress. There is nothing to resume in it, so the run starts.
func TestKilledBeforeTheRunBegan(t *testing.T) {
	o := smallComparison(t, string(sequential.PWord2Vec))
	o.Seeds = 1
	if err := os.MkdirAll(filepath.Join(o.Out, experiment.RunsFolder, "pword2vec-seed1.partial"), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockRuns(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Execute(t.Context(), o, Means{}); runtime.GOOS == "linux" && (err == nil || !strings.Contains(err.Error(), "another w2vcl is training there")) {
		t.Errorf("two at once: %v", err)
	}
	unlock()
	if r := summarized(t, o, nil); !r.Runs[0].Finished {
		t.Error("the run is not finished")
	}
}
