package settings

import (
	"math"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// TestBudgetInIterations: the iterations of mode cl have the words and pairs of the budget, whatever the text.
func TestBudgetInIterations(t *testing.T) {
	for _, tokens := range []int{50_000, 500_000} {
		text, _ := corpustest.Read(t, corpustest.Zipf(1, tokens, 900, 40))
		for _, model := range []string{ModelCBOW, ModelSkipGram} {
			for _, budget := range []string{"3e7pairs", "4e6words"} {
				c, err := Resolve("", map[string]string{"corpus": "x", "model": model, "budget": budget})
				if err != nil {
					t.Fatal(err)
				}
				c.FitText(text.Vocabulary)
				pairs := 2 * c.Positives * float64(text.Vocabulary.Len()) * float64(1+c.Negative)
				words := float64(text.Vocabulary.Total()) / float64(c.Contexts)
				if model == ModelCBOW {
					stretches, err := wordcontext.NewStretches(text, c.StretchOptions())
					if err != nil {
						t.Fatal(err)
					}
					words = stretches.Tokens()
					pairs = 2 * words * wordcontext.KeptFraction(text.Vocabulary, c.Sample) * float64(1+c.Negative)
				}
				got := float64(c.Iterations) * pairs
				if c.Budget.Kind == trainer.BudgetWords {
					got = float64(c.Iterations) * words
				}
				if math.Abs(got/c.Budget.Amount-1) > 0.03 {
					t.Errorf("%d tokens, model %s, %s: %d iterations with %g", tokens, model, budget, c.Iterations, got)
				}
			}
		}
	}
}

// TestBudgetIsTheLength: a budget and epochs or iterations exclude each other, a flag wins over the file, and a
// run records the budget alone.
func TestBudgetIsTheLength(t *testing.T) {
	for _, other := range []string{"epochs", "iterations"} {
		_, err := Resolve("", map[string]string{"corpus": "x", "model": ModelSkipGram, "budget": "9s", other: "3"})
		if err == nil || !strings.Contains(err.Error(), "both say how long to train") {
			t.Errorf("--budget and --%s: %v", other, err)
		}
	}
	text, _ := corpustest.Read(t, corpustest.Zipf(1, 5000, 90, 40))
	for _, mode := range []string{ModeCL, ModeVanilla, "pword2vec", ModeGloVe} {
		c, err := Resolve("", map[string]string{"corpus": "x", "mode": mode, "budget": "9s"})
		if err != nil {
			t.Fatal(err)
		}
		c.FitText(text.Vocabulary)
		recorded := c.Recorded()
		if recorded["budget"] != "9s" || recorded["epochs"] != "" || recorded["iterations"] != "" {
			t.Errorf("%s records budget %q, epochs %q, iterations %q", mode, recorded["budget"], recorded["epochs"], recorded["iterations"])
		}
	}
	if _, err := Resolve("", map[string]string{"corpus": "x", "mode": ModePPMI, "budget": "9s"}); err == nil || !strings.Contains(err.Error(), "--budget does not apply to mode ppmi") {
		t.Errorf("ppmi: %v", err)
	}
}
