package compare

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
)

// workers returns the means of a comparison whose processes are this binary.
func workers(t *testing.T, o experiment.Options, p *progress.Progress) Means {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Means{Progress: p, Worker: func(job int, _ int64) *exec.Cmd {
		o.Job = job
		text, err := json.Marshal(o)
		if err != nil {
			t.Error(err)
		}
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), workerVariable+"="+string(text))
		return cmd
	}}
}

// TestSideBySide: runs side by side give the result of runs one after the other, also after
// an interrupt, and with another number of them.
func TestSideBySide(t *testing.T) {
	modes := []string{settings.ModeCL, string(sequential.PWord2Vec)}
	want := summarized(t, smallComparison(t, modes...), nil)
	check := func(name string, o experiment.Options, p *progress.Progress) *Result {
		t.Helper()
		f, err := Execute(t.Context(), o, workers(t, o, p))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := Summarize(f, "test", "w2vcl compare")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Write(o.Out); err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Variants {
			if len(r.Variants[i].Curve) != len(v.Curve) {
				t.Errorf("%s: %s has %d points, want %d", name, v.Name, len(r.Variants[i].Curve), len(v.Curve))
			}
			for k := range v.Scores {
				if got := r.Variants[i].Scores[k].Mean; got != v.Scores[k].Mean {
					t.Errorf("%s: %s has %v on %s, want %v", name, v.Name, got, want.Sets[k].Dataset, v.Scores[k].Mean)
				}
			}
		}
		return r
	}
	o := smallComparison(t, modes...)
	o.Jobs = 3
	if r := check("three jobs", o, nil); r.Jobs != 3 || !strings.Contains(read(t, filepath.Join(o.Out, PageFile)), "Up to 3 runs trained side by side") {
		t.Errorf("%d jobs", r.Jobs)
	}
	for _, text := range []string{"[2 of", "| Trained"} {
		o := smallComparison(t, modes...)
		o.Jobs = 2
		ctx, cancel := context.WithCancel(t.Context())
		w := &cancelWriter{text: text, cancel: cancel}
		_, err := Execute(ctx, o, workers(t, o, progress.New(w)))
		cancel()
		if !errors.Is(err, train.ErrInterrupted) {
			t.Errorf("interrupted at %q: error %v\n%s", text, err, &w.log)
		}
		o.Jobs = 0
		check("interrupted at "+text, o, nil)
	}
}
