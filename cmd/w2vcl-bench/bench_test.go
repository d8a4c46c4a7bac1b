package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/cmd/internal/bench"
	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "w2vcl-bench", main) }

func TestScript(t *testing.T) { clitest.Scripts(t) }

func TestCommandFiles(t *testing.T) { clitest.CheckFiles(t, newRoot(cli.Streams{}), commandFiles) }

func TestDocumentsNameWhatThereIs(t *testing.T) { clitest.CheckDocuments(t, newRoot(cli.Streams{})) }

// runBench runs a command in this process and decodes its JSON, all fields of
// which must be known.
func runBench(t *testing.T, ctx context.Context, results any, watch func(), args ...string) (report benchReport, code int) {
	t.Helper()
	var out bytes.Buffer
	stderr := &watcher{saw: watch}
	code = run(ctx, args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: stderr})
	if code == cli.ExitFailed || code == cli.ExitUsage {
		t.Logf("stderr: %s", stderr)
		return report, code
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Fatalf("%d lines on standard output: %s", n, &out)
	}
	report.Results = results
	decoder := json.NewDecoder(&out)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&report); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return report, code
}

// A watcher calls saw when standard error shows the first result.
type watcher struct {
	bytes.Buffer
	saw func()
}

func (w *watcher) Write(b []byte) (int, error) {
	if w.saw != nil && bytes.Contains(b, []byte("of copying")) {
		w.saw()
	}
	return w.Buffer.Write(b)
}

func TestBenchJSON(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, clitest.MakeText(3000, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	short := []string{"--json", "--repeat", "1"}
	check := func(name string, count func() int, results any, args ...string) {
		r, code := runBench(t, t.Context(), results, nil, append(append([]string{name}, args...), short...)...)
		if code != cli.ExitDone || r.Bench != name || r.Interrupted || r.Settings == nil {
			t.Errorf("%s: code %d, %+v", name, code, r)
		}
		if m := r.Machine; m.Processors < 1 || m.Threads < 1 || m.Go == "" || m.System == "" || m.Date == "" || m.Kernels == "" {
			t.Errorf("%s: machine %+v", name, m)
		}
		if count() == 0 {
			t.Errorf("%s: no results", name)
		}
	}
	var steps []bench.StepResult
	check("step", func() int { return len(steps) }, &steps,
		"--words", "30,40", "--dim", "8", "--form", "stock,fused", "--threads", "1,2", "--seconds", "0.001", "--copy-mb", "1")
	if len(steps) != 8 || steps[7].Vocabulary != 40 || steps[7].Bytes != 12*40*8*4 || steps[7].OverStock <= 0 || steps[7].SpeedUp <= 0 {
		t.Errorf("steps: %+v", steps)
	}
	var matrices []matrixResult
	check("matrix", func() int { return len(matrices) }, &matrices, "--corpus", text, "--contexts", "16", "--seconds", "0")
	var texts []corpusResult
	check("corpus", func() int { return len(texts) }, &texts, "--corpus", text)
	var evals []bench.EvalResult
	check("eval", func() int { return len(evals) }, &evals, "--dim", "4", "--words", "10", "--seconds", "0")
	if len(evals) != 7 { // one similarity set, two analogy sets by three methods
		t.Errorf("%d results: %+v", len(evals), evals)
	}
}

// TestBenchInterrupted: an interrupted benchmark prints the results until then.
func TestBenchInterrupted(t *testing.T) {
	args := []string{"step", "--words", "30", "--dim", "8", "--threads", "1", "--seconds", "0", "--repeat", "1", "--copy-mb", "1", "--json",
		"--optimizer", "adam,sgd,adam-row"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var steps []bench.StepResult
	r, code := runBench(t, ctx, &steps, cancel, args...)
	if code != cli.ExitInterrupted || !r.Interrupted || len(steps) != 1 {
		t.Errorf("code %d, interrupted %t, %d results", code, r.Interrupted, len(steps))
	}
	// Without a result it prints none.
	var out, stderr bytes.Buffer
	code = run(ctx, args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr})
	if code != cli.ExitInterrupted || out.Len() > 0 || !strings.Contains(stderr.String(), "before anything was measured") {
		t.Errorf("stopped at once: code %d", code)
	}
}
