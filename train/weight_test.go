package train

import (
	"bytes"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestResumeWithAnotherContextWeight: what is exported may change, for training does
// not know it.
func TestResumeWithAnotherContextWeight(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.ContextWeight = 0.5
	want := hashOfRun(t, c)
	c.ContextWeight = 1
	interruptRun(t, c)
	var shown bytes.Buffer
	p := progress.New(&shown)
	if _, err := Resume(t.Context(), nil, c.Out, map[string]string{"context-weight": "0.5"}, nil, p); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, c.Out) != want {
		t.Error("other vectors")
	}
	if !strings.Contains(shown.String(), "--context-weight is 0.5 from here on; it was 1\n") {
		t.Errorf("no word of the change:\n%s", &shown)
	}
}

// TestResumeAnnouncesUnseen: where the vectors of unseen words come from may change, too.
func TestResumeAnnouncesUnseen(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	interruptRun(t, c)
	var shown bytes.Buffer
	if _, err := Resume(t.Context(), nil, c.Out, map[string]string{"unseen": "regress"}, nil, progress.New(&shown)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.String(), "--unseen is regress from here on; it was encoder\n") {
		t.Errorf("no word of the change:\n%s", &shown)
	}
}

// Vectors of an interrupted run are not read with the weight of a run that goes on.
func TestContextWeightOfAFolder(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.ContextWeight = 1
	interruptRun(t, c)
	words := func() []float32 {
		t.Helper()
		run, err := runfolder.Open(c.Out)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := run.Tables(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := make([]float32, len(tables.Words))
		for i := range tables.Vocabulary {
			tables.Row(all[i*c.Dim:][:c.Dim], i)
		}
		return all
	}
	want := words()
	j := &job{}
	folder, err := runfolder.Reopen(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.open(folder, map[string]string{"context-weight": "0.25"}, nil); err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if err := j.prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := j.begin(folder, nil); err != nil {
		t.Fatal(err)
	}
	folder.Close() // as if the process were killed here
	for i, x := range words() {
		if d := x - want[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("value %d is %v, want %v", i, x, want[i])
		}
	}
}
