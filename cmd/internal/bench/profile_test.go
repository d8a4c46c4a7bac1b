package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

func TestMeasureProfile(t *testing.T) {
	for _, c := range []ProfileCase{
		{Vocabulary: 50, Dim: 8, Negatives: 5, Batch: 1, Threads: 1},
		{Vocabulary: 50, Dim: 7, Negatives: 1, Batch: 33, Threads: 2},
		{Vocabulary: 300, Dim: 16, Negatives: 7, Batch: 4096, Threads: 3},
	} {
		r, err := MeasureProfile(t.Context(), c, 1, tiny)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		sum := 0.0
		for _, p := range r.Phases {
			names = append(names, p.Name)
			sum += p.Step.Median
			if p.Name != PhaseRest && (p.Step.Median <= 0 || p.Step.Runs != tiny.Repeat) {
				t.Errorf("%+v: phase %+v", c, p)
			}
		}
		if want := []string{PhaseDraw, PhaseDot, PhaseLoss, PhaseGradients, PhaseUpdate, PhaseRest}; !slices.Equal(names, want) {
			t.Errorf("phases %v, want %v", names, want)
		}
		if sum < r.All.Median*(1-1e-9) {
			t.Errorf("%+v: phases take %v of %v seconds", c, sum, r.All.Median)
		}
		if r.WordsPerSecond <= 0 || r.Forward <= 0 {
			t.Errorf("%+v: %v words/s, forward %v", c, r.WordsPerSecond, r.Forward)
		}
	}
}

// TestMinibatchPhases checks what each phase computes: a phase that skips its work
// would be fast.
func TestMinibatchPhases(t *testing.T) {
	c := ProfileCase{Vocabulary: 20, Dim: 5, Negatives: 3, Batch: 37, Threads: 2}
	counts, err := syntheticCounts(c.Vocabulary, Zipf)
	if err != nil {
		t.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(counts, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	b, err := newMinibatch(counts, noise, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float32, len(b.words)) // gradient of the words, by row
	before, contexts := slices.Clone(b.words), slices.Clone(b.contexts)
	for _, phase := range b.phases() {
		if err := phase.work(); err != nil {
			t.Fatal(err)
		}
	}
	width := 1 + c.Negatives
	for e, target := range b.targets {
		left := b.left[e/width]
		var score float64
		for d := range c.Dim {
			score += float64(before[int(left)*c.Dim+d]) * float64(contexts[int(target)*c.Dim+d])
			want[int(left)*c.Dim+d] += 0.01 * contexts[int(target)*c.Dim+d]
		}
		if math.Abs(float64(b.scores[e])-score) > 1e-5 {
			t.Fatalf("score %d is %v, want %v", e, b.scores[e], score)
		}
		coefficient := 1 / (1 + math.Exp(-score))
		if e%width == 0 { // a positive
			coefficient--
		}
		if math.Abs(float64(b.coefficients[e])-coefficient) > 1e-5 {
			t.Fatalf("coefficient %d is %v, want %v", e, b.coefficients[e], coefficient)
		}
	}
	for i, row := range b.byWord.rows {
		for d := range c.Dim {
			if got, want := b.wordGradients[i*c.Dim+d], want[int(row)*c.Dim+d]; math.Abs(float64(got-want)) > 1e-5 {
				t.Fatalf("gradient of word %d is %v, want %v", row, got, want)
			}
		}
		if slices.Equal(b.words[int(row)*c.Dim:][:c.Dim], before[int(row)*c.Dim:][:c.Dim]) {
			t.Errorf("word %d was not updated", row)
		}
	}
	if n := len(b.byContext.others); n != len(b.targets) {
		t.Errorf("%d entries by context, want %d", n, len(b.targets))
	}
	for _, word := range b.drawn {
		if int(word) >= c.Vocabulary {
			t.Fatalf("drew word %d of %d", word, c.Vocabulary)
		}
	}
}

func TestMeasureProfileStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeasureProfile(ctx, ProfileCase{Vocabulary: 50, Dim: 4, Negatives: 2, Batch: 8, Threads: 1}, 1, tiny); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := MeasureProfile(t.Context(), ProfileCase{Vocabulary: 1, Dim: 4, Negatives: 2, Batch: 8, Threads: 1}, 1, tiny); err == nil {
		t.Error("one word was profiled")
	}
}
