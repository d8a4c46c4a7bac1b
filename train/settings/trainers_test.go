package settings

import (
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// A learning rate falls in a straight line, or after each epoch by a part of their number, or stays.
func TestRate(t *testing.T) {
	for decay, want := range map[string][]float64{
		decayLinear: {.2, .175, .15, .125, .1, .075, .05, .025},
		decayEpochs: {.2, .2, .15, .15, .1, .1, .05, .05},
		decayNone:   {.2, .2, .2, .2, .2, .2, .2, .2},
	} {
		c, err := Resolve("", map[string]string{"corpus": "x", "mode": "parw2v", "decay": decay, "epochs": "4", "lr": "0.2", "lr-end": "0"})
		if err != nil {
			t.Fatal(err)
		}
		for unit, rate := range want {
			if got := c.Rate(unit, len(want)); math.Abs(got-rate) > 1e-15 {
				t.Errorf("%s: the rate of unit %d is %v, want %v", decay, unit, got, rate)
			}
		}
	}
}

// In every mode negatives may be drawn uniformly: all words of the text are as likely, and
// others are never drawn.
func TestUniformNegatives(t *testing.T) {
	v, err := corpus.NewVocabulary([]string{"the", "of", "rare", "absent"}, []uint64{900, 30, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range modesThat(onNegatives) {
		flags := map[string]string{"corpus": "x", "mode": mode, "noise": noiseCounts, "noise-exponent": "0"}
		if mode == ModeCL {
			flags["model"] = ModelSkipGram // which has the settings
		}
		c, err := Resolve("", flags)
		if err != nil {
			t.Fatal(err)
		}
		noise, err := c.Negatives(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		const draws = 3 << 10
		var found [4]int
		for i := range uint32(draws) {
			found[noise.Draw(i*(1<<32/draws)+1<<10)]++
		}
		for word, n := range found {
			want := draws / 3
			if word == 3 {
				want = 0
			}
			if n < want-3 || n > want+3 {
				t.Errorf("%s: word %d is drawn %d times of %d", mode, word, n, draws)
			}
		}
	}
}

// Exported rows of an encoder have no direction in common; others, and those of papers, stay as they are.
func TestExportedRowsAreCentred(t *testing.T) {
	words, contexts := []float32{5, 1, 6, 3, 7, 2}, []float32{1, 0, 2, 1, 0, 2}
	for _, test := range []struct {
		settings map[string]string
		centred  bool
	}{
		{map[string]string{"model": "sg", "subword": "cnn"}, true},
		{map[string]string{"model": "sg", "subword": "ngram"}, true},
		{map[string]string{"model": "sg", "subword": "none"}, false},
		{map[string]string{"preset": "paper", "subword": "cnn"}, false},
	} {
		test.settings["corpus"], test.settings["dim"] = "x", "2"
		c, err := Resolve("", test.settings)
		if err != nil {
			t.Fatal(err)
		}
		var sums [2]float64
		vectors, _ := c.Exported(words, contexts)
		for i, x := range vectors {
			sums[i%2] += float64(x)
		}
		for j, sum := range sums {
			if centred := math.Abs(sum) < 1e-5; centred != test.centred {
				t.Errorf("%v: column %d sums up to %v", test.settings, j, sum)
			}
		}
	}
}
