package settings

import (
	"maps"
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// zipf returns a vocabulary of some words with about so many tokens.
func zipf(words int, tokens float64) *corpus.Vocabulary {
	v := &corpus.Vocabulary{Counts: make([]uint64, words)}
	var sum float64
	for i := range words {
		sum += 1 / float64(i+1)
	}
	for i := range words {
		v.Counts[i] = max(uint64(tokens/sum/float64(i+1)), 1)
	}
	v.Words = make([]string, words)
	return v
}

func TestFitText(t *testing.T) {
	fit := func(flags map[string]string, v *corpus.Vocabulary) Config {
		flags = maps.Clone(flags)
		if flags == nil {
			flags = map[string]string{}
		}
		flags["corpus"] = "text"
		if flags["mode"] == "" {
			flags["model"] = "sg" // the model of M
		}
		c, err := Resolve("", flags)
		if err != nil {
			t.Fatal(err)
		}
		c.FitText(v)
		return c
	}
	large, small := zipf(18_000, 16e6), zipf(10_000, 1.8e6)
	c := fit(nil, large)
	if c.Passes != 5 || c.Positives < 6 || c.Positives > 14 {
		t.Errorf("17 million words: %d passes, %v positives", c.Passes, c.Positives)
	}
	// The uses of a context do not depend on the iterations.
	if d := fit(map[string]string{"contexts": "8192"}, large); d.Positives > .51*c.Positives || d.Positives < .49*c.Positives {
		t.Errorf("twice the iterations have %v positives, not half of %v", d.Positives, c.Positives)
	}
	// Long vectors have fewer, and shorter ones never fewer than longer ones.
	if d := fit(map[string]string{"dim": "300"}, large); d.Positives < 4.9 || d.Positives > 5.5 {
		t.Errorf("dim 300 has %v positives", d.Positives)
	}
	if d := fit(map[string]string{"dim": "1000", "contexts": "2048"}, large); d.Positives < 6.5 || d.Positives > 7.5 {
		t.Errorf("dim 1000 with 2,048 iterations has %v positives", d.Positives)
	}
	for last, dim := 16.0, 25; dim < 2000; dim *= 2 {
		d := fit(map[string]string{"dim": strconv.Itoa(dim)}, large)
		if d.Positives > last {
			t.Errorf("dim %d has %v positives, half of it %v", dim, d.Positives, last)
		}
		last = d.Positives
	}
	if d := fit(nil, small); d.Passes < 12 || d.Passes > 20 || d.Positives > c.Positives {
		t.Errorf("a short text has %d passes and %v positives", d.Passes, d.Positives)
	}
	if d := fit(nil, zipf(1_000_000, 4e9)); d.Passes != 1 || d.Positives != 16 {
		t.Errorf("a long text has %d passes and %v positives", d.Passes, d.Positives)
	}
	for flags, want := range map[string]float64{"iterations": 5, "positives": 1.5} { // cost does not depend on the text
		given := map[string]string{"iterations": "700", "dim": "300", flags: map[string]string{"iterations": "700", "positives": "1.5"}[flags]}
		for _, text := range []*corpus.Vocabulary{small, large} {
			d := fit(given, text)
			if pairs := d.IterationPairs(text); d.Positives != want || pairs != 2*want*float64(text.Len())*float64(1+d.Negative) || d.TotalIterations() != 700 {
				t.Errorf("%v: %v positives, %v pairs in each of %d iterations", given, d.Positives, pairs, d.TotalIterations())
			}
		}
	}
	if d := fit(map[string]string{"positives": "1.5"}, large); d.Positives != 1.5 {
		t.Errorf("positives that were set became %v", d.Positives)
	}
	if d := fit(map[string]string{"sample": "0", "dynamic-window": "false"}, large); d.Passes != 1 {
		t.Errorf("%d passes of a text without subsampling", d.Passes)
	}
	for _, flags := range []map[string]string{{"preset": "paper"}, {"mode": ModeVanilla}} {
		if was := fit(flags, zipf(2, 10)); !reflect.DeepEqual(was, fit(flags, large)) {
			t.Errorf("%v follow from the text", flags)
		}
	}
}

// Stretches are smaller and fewer for short texts, which keep more of their frequent words; what was set stays.
func TestFitStretches(t *testing.T) {
	fit := func(flags map[string]string, words int, tokens float64) Config {
		t.Helper()
		flags["corpus"] = "x"
		c, err := Resolve("", flags)
		if err != nil {
			t.Fatal(err)
		}
		c.FitText(zipf(words, tokens))
		return c
	}
	if c := fit(map[string]string{}, 60_000, 1e9); c.Batch != 45_000 || c.Iterations != 2048 || c.Sample != 1e-5 {
		t.Errorf("a long text has %d iterations of %d words, and a threshold of %v", c.Iterations, c.Batch, c.Sample)
	}
	for _, x := range []struct {
		model, dim        string
		words             int
		batch, iterations int
	}{
		{ModelPositional, "100", 20_000, 30_000, 2048},
		{ModelPositional, "100", 60_000, 45_000, 2048},
		{ModelCBOW, "100", 20_000, 45_000, 2048},
		{ModelPositional, "300", 20_000, 30_000, 4096},
		{ModelCBOW, "300", 20_000, 30_000, 4096},
		{ModelCBOW, "300", 60_000, 45_000, 2048},
	} {
		if c := fit(map[string]string{"model": x.model, "dim": x.dim}, x.words, 1e9); c.Batch != x.batch || c.Iterations != x.iterations {
			t.Errorf("%+v: %d iterations of %d words", x, c.Iterations, c.Batch)
		}
	}
	if c := fit(map[string]string{"dim": "300"}, 20_000, 1e6); c.Batch >= 10_000 || c.Iterations != 1024 {
		t.Errorf("long vectors of a short text have %d iterations of %d words", c.Iterations, c.Batch)
	}
	short := fit(map[string]string{}, 20_000, 1e6)
	if short.Batch >= 10_000 || short.Batch < 5_000 || short.Iterations != 1024 || math.Abs(short.Sample-1.6e-3) > 4e-5 {
		t.Errorf("a short text has %d iterations of %d words, and a threshold of %v", short.Iterations, short.Batch, short.Sample)
	}
	if c := fit(map[string]string{}, 5, 40); c.Batch < 30 || c.Batch > 40 || c.Iterations != 48 || c.Sample != 0 {
		t.Errorf("a tiny text has %d iterations of %d words, and a threshold of %v", c.Iterations, c.Batch, c.Sample)
	}
	for _, epochs := range []float64{1, 20} {
		c, v := fit(map[string]string{"epochs": strconv.FormatFloat(epochs, 'f', 0, 64)}, 20_000, 1e6), zipf(20_000, 1e6)
		if read := float64(c.Iterations) * c.iterationWords(v) / float64(v.Total()); math.Abs(read/epochs-1) > 0.01 {
			t.Errorf("%v epochs are %d iterations, which read the text %v times", epochs, c.Iterations, read)
		}
	}
	if c := fit(map[string]string{"batch": "70", "iterations": "3", "sample": "0.25"}, 20_000, 2e6); c.Batch != 70 || c.Iterations != 3 || c.Sample != 0.25 {
		t.Errorf("%d iterations of %d words with a threshold of %v, want 3 of 70, and .25", c.Iterations, c.Batch, c.Sample)
	}
}
