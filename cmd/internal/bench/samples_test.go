package bench

import (
	"context"
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
)

// The amount of a step is the mean of what the steps of an epoch train.
func TestAmount(t *testing.T) {
	s := Samples{Tempering: 1, Positives: 2, MaxPositives: 20}
	text, err := NewText(context.Background(), 60, Zipf, s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	m, want := text.Matrix, amount{}
	for j := range m.Contexts() {
		for i := range m.Rows() {
			_, samples := m.Share(i, j, 1)
			want.rows += min(float64(samples), 1)
			want.samples += float64(samples)
		}
	}
	got, l := amountOf(m), float64(m.Contexts())
	if math.Abs(got.rows-want.rows/l) > 1e-6*got.rows || math.Abs(got.samples-want.samples/l) > 1e-6*got.samples || got.rows >= 60 {
		t.Errorf("%+v, want %+v / %v", got, want, l)
	}
	const dim, negatives = 10, 5
	row := 4.0 * dim
	for shared, gathered := range map[int]float64{0: got.samples + negatives*got.rows, 64: got.samples + 64} {
		bytes, err := stepBytes(got, dim, negatives, shared, optim.SGD)
		if want := row * (gathered + 2*got.rows); err != nil || math.Abs(float64(bytes)-want) > 2*row {
			t.Errorf("%d shared negatives: %d bytes, %v; want %v", shared, bytes, err, want)
		}
	}
	tempered := StepCase{Vocabulary: 60, Dim: dim, Negatives: negatives, Samples: s, Frequencies: Zipf, Optimizer: optim.Adam, Form: graph.FormFused, Threads: 2}
	tempered.Shared = 16
	r, err := MeasureStep(context.Background(), tempered, text, NewCopier(1<<10, 2), 1, tiny)
	if err != nil {
		t.Fatal(err)
	}
	if pairs := r.PairsPerSecond * r.Seconds / (1 + negatives); math.Abs(pairs-got.samples) > 0.2*got.samples || !(r.Loss > 0) {
		t.Errorf("%v samples a step, want about %v; loss %v", pairs, got.samples, r.Loss)
	}
}
