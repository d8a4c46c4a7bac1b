package settings

import (
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
	for _, mode := range modeNames(onWords) {
		c, err := Resolve("", map[string]string{"corpus": "x", "mode": mode, "noise": NoiseCounts, "noise-exponent": "0"})
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
