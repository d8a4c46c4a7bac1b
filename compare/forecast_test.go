package compare

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/compare/experiment"
)

// TestForecast: a budget in seconds is the time of its runs; seeds multiply it, jobs divide it; and
// a variant that cannot be trained is named.
func TestForecast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("a b c d e f g h\n", 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := experiment.Options{
		Variants: experiment.Modes([]string{"pword2vec", "word2vec"}), Seeds: 1, Points: 1, Out: "out",
		Settings: map[string]string{"corpus": path, "dim": "8", "min-count": "1", "negative": "2", "threads": "1"},
		Budget:   experiment.Budget{Kind: experiment.BudgetSeconds, Amount: 0.125},
	}
	var p Planner
	defer p.Close()
	of := func(o experiment.Options) Forecast {
		t.Helper()
		f, err := p.Forecast(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := of(o)
	if one.Seconds != 0.25 || one.Memory <= 0 || one.Device != 0 {
		t.Errorf("two runs of 1/8 s: %+v", one)
	}
	if len(p.texts) != 1 || len(p.plans) != 2 {
		t.Errorf("%d texts, %d plans", len(p.texts), len(p.plans))
	}
	o.Seeds, o.Jobs = 3, 2
	if f := of(o); f.Seconds != 0.375 || f.Memory <= 2*one.Memory {
		t.Errorf("three seeds, two at a time: %+v", f)
	}
	if len(p.plans) != 2 {
		t.Errorf("%d plans after the same again", len(p.plans))
	}
	o.Jobs, o.Seeds, o.Budget = 1, 1, experiment.Budget{Kind: experiment.BudgetEpochs, Amount: 1}
	if f := of(o); !(f.Seconds > 0) || math.IsInf(f.Seconds, 0) {
		t.Errorf("an epoch: %+v", f)
	}
	o.Variants = append(o.Variants, experiment.Variant{Name: "small", Mode: "word2vec", Own: map[string]string{"max-memory": "1MB"}})
	if _, err := p.Forecast(t.Context(), o); err == nil || !strings.Contains(err.Error(), "small: ") {
		t.Errorf("a variant without memory: %v", err)
	}
}
