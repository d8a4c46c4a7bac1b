package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

// TestPlanTellsThePeak: a plan is within a tenth of the peak of memory.
func TestPlanTellsThePeak(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory for itself")
	}
	for _, flags := range [][]string{
		{"--contexts", "16", "--epochs", "1", "--positives", "2", "--shared-negatives", "4"},
		{"--contexts", "16", "--tempering", "0", "--positives", "1", "--optimizer", "adam-row", "--checkpoint", "2"},
		{"--dim", "12000", "--iterations", "6", "--batch", "500", "--shared-negatives", "4"},
		{"--dim", "12000", "--iterations", "6", "--batch", "100", "--subword", "none", "--checkpoint", "2"},
		{"--mode", "vanilla", "--epochs", "1", "--batch", "32"},
	} {
		unused := 0.1
		if slices.Contains(flags, "--iterations") {
			unused = 0.45 // there is room for stretches that are longer by chance, much of it in small ones
		}
		for _, threads := range []string{"1", "3"} {
			r := newRun(t)
			r.args = append([]string{r.args[0], r.args[1], "--dim", "30000", "--threads", threads}, flags...)
			r.comparePeaks(r.args, unused, 0.1)
		}
	}
}

// TestLimitIsRefusedOrKept: with limits about the planned peak a run is refused before it trains, or
// stays below the limit to its end.
func TestLimitIsRefusedOrKept(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory for itself")
	}
	r := newRun(t)
	r.keepLimits(r.args, "--dim", "30000", "--contexts", "16", "--epochs", "1", "--positives", "2", "--shared-negatives", "4")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(corpustest.Zipf(1, 40_000, 2000, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--corpus", text, "--dim", "100", "--min-count", "1"}
	r.keepLimits(flags, "--mode", "ppmi", "--window", "10")
	r.keepLimits(flags, "--subword", "ngram", "--model", "sg", "--contexts", "16", "--epochs", "1")
}

// keepLimits trains with limits about the planned peak.
func (r *trainingRun) keepLimits(common []string, own ...string) {
	t := r.t
	t.Helper()
	flags := slices.Concat(common, own)
	planned := r.plannedPeak(flags)
	for _, share := range []float64{0.85, 0.92, 0.96, 1, 1.04, 1.15} {
		var summary struct {
			Peak float64 `json:"peak_rss_bytes"`
		}
		limit := share * planned
		args := append([]string{"train", "--json", "--force", "--out", r.out, "--max-memory", fmt.Sprintf("%.0fB", limit)}, flags...)
		cmd := w2vclCommand(t, args...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		output, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(output, &summary)
		}
		switch {
		case err != nil && (share > 1.1 || !strings.Contains(stderr.String(), "--max-memory allows")):
			t.Errorf("%.2f of the plan: %v: %s", share, err, stderr.String())
		case err != nil && strings.Contains(stderr.String(), "Trained:"):
			t.Errorf("%.2f of the plan: refused after training: %s", share, stderr.String())
		case summary.Peak > limit:
			t.Errorf("%.2f of the plan: took %.1f MB of %.1f", share, summary.Peak/1e6, limit/1e6)
		}
		t.Logf("%v: %.2f of the plan, %.1f MB: took %.1f MB", flags, share, limit/1e6, summary.Peak/1e6)
	}
}

// TestPlanOfATextInAFile: so it is with a text that is several times larger than the tables and stays
// in its file, and with an M on the disk.
func TestPlanOfATextInAFile(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory for itself")
	}
	r := newRun(t)
	text, cache := filepath.Join(t.TempDir(), "text"), t.TempDir()
	if err := os.WriteFile(text, []byte(corpustest.Zipf(1, 2_800_000, 200_000, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := w2vclCommand(t, "corpus", "build", "--corpus", text, "--cache", cache, "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, flags := range [][]string{
		{"--mode", "pword2vec", "--epochs", "1", "--sample", "1e-6", "--threads", "1"},
		{"--mode", "pword2vec", "--epochs", "1", "--sample", "1e-6", "--threads", "4"},
		{"--mode", "cl", "--iterations", "8", "--threads", "2"},
		{"--mode", "cl", "--contexts", "512", "--window", "3", "--iterations", "8", "--threads", "2", "--max-memory", "62MB"}, // 67 MB with M in memory
	} {
		// Windows of readers that never read at the same time, as on a busy machine, have less memory.
		r.comparePeaks(append([]string{"--corpus", text, "--cache", cache, "--dim", "8"}, flags...), 0.2, 0.1)
	}
}

// comparePeaks reports a plan of which more than a fraction was not taken, or that was exceeded by more than another.
// If a run says so, the median of three decides: beside other work Go collects late, by chance.
func (r *trainingRun) comparePeaks(flags []string, unused, over float64) {
	r.t.Helper()
	kept := func(ratio float64) bool { return ratio >= 1-unused && ratio <= 1+over }
	first := r.peakByPlan(flags)
	if kept(first) {
		return
	}
	ratios := []float64{first, r.peakByPlan(flags), r.peakByPlan(flags)}
	slices.Sort(ratios)
	if !kept(ratios[1]) {
		r.t.Errorf("%v: took %.3f of the plan", flags, ratios)
	}
}

// peakByPlan is the peak of a run as a share of what the plan said.
func (r *trainingRun) peakByPlan(flags []string) float64 {
	r.t.Helper()
	planned := r.plannedPeak(flags)
	var summary struct {
		Peak float64 `json:"peak_rss_bytes"`
	}
	r.json(w2vclCommand(r.t, slices.Concat([]string{"train", "--json", "--force", "--out", r.out}, flags)...), &summary)
	if summary.Peak == 0 {
		r.t.Skip("memory is not known on this system")
	}
	r.t.Logf("%v: planned %.1f MB, took %.1f MB", flags, planned/1e6, summary.Peak/1e6)
	return summary.Peak / planned
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
