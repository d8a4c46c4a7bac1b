package main

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/runfolder"
)

// TestLiveRun asks a run of the default mode that is still training. The answer says so, and where it is.
func TestLiveRun(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no locks on this system")
	}
	r := newRun(t, "--iterations", "200000", "--checkpoint", "50")
	training := r.train()
	if err := training.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(r.out+".partial", "checkpoint", "state.safetensors"))
	ask := func(want string, args ...string) {
		t.Helper()
		cmd := w2vclCommand(t, args...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", args[0], err)
		}
		said := stderr.String()
		if !strings.Contains(said, "Note: "+r.out+" "+want) || !strings.Contains(said, ", in "+r.out+".partial: ") ||
			!strings.Contains(said, " of 200,000 iterations; these are the vectors of its last checkpoint\n") {
			t.Errorf("%s said %q, want %q", args[0], said, want)
		}
		if out.Len() == 0 && args[0] != "convert" {
			t.Errorf("%s gave no answer", args[0])
		}
	}
	questions := [][]string{
		{"neighbors", r.out, "w0"}, {"analogy", r.out, "w0", "w1", "w2"}, {"vector", r.out, "w0"}, {"eval", r.out + ".partial", "--task", "similarity"},
	}
	for _, q := range questions {
		ask("is still training", q...)
	}
	unseen := w2vclCommand(t, "neighbors", r.out, "nowhere")
	if said, err := unseen.CombinedOutput(); err == nil || !strings.Contains(string(said), "; unseen words have vectors when the run is complete") {
		t.Errorf("%v: %s", err, said)
	}
	var metrics []runfolder.Metric
	for len(metrics) == 0 { // a line is of a thousand iterations
		r.json(w2vclCommand(t, "metrics", r.out, "--format", "json"), &metrics)
	}
	if metrics[0].Unit < 1 || metrics[0].Loss <= 0 {
		t.Errorf("metrics: %+v", metrics)
	}
	ask("is still training", "convert", r.out, filepath.Join(t.TempDir(), "x.txt"))
	if err := training.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = training.Wait()
	for _, q := range questions {
		ask("was stopped before its end ('w2vcl resume "+r.out+"' goes on)", q...)
	}
}
