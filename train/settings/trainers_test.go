package settings

import (
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// With --decay epochs the learning rate of an epoch is that of PAR-Word2Vec: after each of E
// epochs it is less by a part of E.
func TestScheduleOfEpochs(t *testing.T) {
	c, err := Resolve("",
		map[string]string{"corpus": "x", "mode": "parw2v", "decay": "epochs", "epochs": "4", "lr": "0.2"})
	if err != nil {
		t.Fatal(err)
	}
	const unitsOfEpoch = 7
	rate := c.Schedule(4 * unitsOfEpoch)
	for unit := range 4 * unitsOfEpoch {
		if got, want := rate(unit), 0.2*(1-float64(unit/unitsOfEpoch)/4); got < want-1e-15 || got > want+1e-15 {
			t.Errorf("unit %d: %v, want %v", unit, got, want)
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
		c, err := Resolve("", map[string]string{"corpus": "x", "mode": mode, "noise": noiseCounts, "noise-exponent": "0"})
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
		for i, x := range c.Exported(words, contexts) {
			sums[i%2] += float64(x)
		}
		for j, sum := range sums {
			if centred := math.Abs(sum) < 1e-5; centred != test.centred {
				t.Errorf("%v: column %d sums up to %v", test.settings, j, sum)
			}
		}
	}
}
