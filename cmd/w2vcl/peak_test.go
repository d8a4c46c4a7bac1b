package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

// peakFamilies are runs of each family of modes, large enough that tables are more than the fixed part of a plan.
var peakFamilies = [][]string{
	{"--mode", "cl", "--iterations", "4", "--batch", "2000", "--dim", "800"},
	{"--mode", "cl", "--iterations", "4", "--batch", "2000", "--dim", "500", "--subword", "ngram"},
	{"--mode", "cl", "--model", "sg", "--contexts", "16", "--epochs", "1", "--dim", "800"},
	{"--mode", "cl", "--model", "sg", "--contexts", "16", "--iterations", "2", "--subword", "cnn"},
	{"--mode", "vanilla", "--epochs", "1", "--dim", "500"},
	{"--mode", "pword2vec", "--epochs", "1", "--dim", "800"},
	{"--mode", "word2vec", "--epochs", "1", "--dim", "500", "--subword", "ngram"},
	{"--mode", "glove", "--epochs", "1", "--dim", "500"},
	{"--mode", "ppmi", "--dim", "100"},
}

// TestPeakStaysBelowThePlan: no run takes more memory than its plan says, and a run with half as much is refused before
// it trains.
func TestPeakStaysBelowThePlan(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory for itself")
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(corpustest.Zipf(1, 40_000, 3000, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, family := range peakFamilies {
		t.Run(strings.Join(family, " "), func(t *testing.T) {
			t.Parallel()
			checkPeak(t, append([]string{"--corpus", text, "--min-count", "1", "--threads", "2"}, family...))
		})
	}
}

func checkPeak(t *testing.T, flags []string) {
	r := newRun(t)
	planned := r.plannedPeak(flags)
	var summary struct {
		Peak float64 `json:"peak_rss_bytes"`
	}
	train := slices.Concat([]string{"train", "--json", "--force", "--out", r.out}, flags)
	r.json(w2vclCommand(t, train...), &summary)
	if summary.Peak == 0 {
		t.Skip("memory is not known on this system")
	}
	t.Logf("planned %.1f MB, took %.1f MB", planned/1e6, summary.Peak/1e6)
	if summary.Peak > planned {
		t.Error("took more than the plan")
	}
	var stderr strings.Builder
	refused := w2vclCommand(t, append(train, "--max-memory", fmt.Sprintf("%.0fB", planned/2))...)
	refused.Stderr = &stderr
	if err := refused.Run(); err == nil || !strings.Contains(stderr.String(), "--max-memory") || strings.Contains(stderr.String(), "Trained:") {
		t.Errorf("with half the memory: %v: %s", err, stderr.String())
	}
}

// plannedPeak is the peak that a plan states, in bytes.
func (r *trainingRun) plannedPeak(flags []string) float64 {
	r.t.Helper()
	var plan struct {
		Memory struct {
			Peak float64 `json:"peak"`
		} `json:"memory_bytes"`
	}
	r.json(w2vclCommand(r.t, slices.Concat([]string{"plan", "--json"}, flags)...), &plan)
	return plan.Memory.Peak
}
