package cooccurrence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/train/trainer"
)

func gloVe(t *testing.T, m *Matrix, o GloVeOptions) *GloVe {
	t.Helper()
	g, err := NewGloVe(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGloVeEqualsDefinition compares an epoch with the same epoch in plain loops and
// double precision.
func TestGloVeEqualsDefinition(t *testing.T) {
	for _, rows := range []int{1, 2, 40, 150} {
		m := sparse(rows, 0.7)
		o := GloVeOptions{Dim: 1 + rand.IntN(20), XMax: 3, Epochs: 2, Seed: rand.Uint64(), Threads: 2}
		g := gloVe(t, m, o)
		type double struct{ vectors, squares, biases, biasSquares []float64 }
		wide := func(x []float32) (y []float64) {
			for _, v := range x {
				y = append(y, float64(v))
			}
			return y
		}
		var sides [2]double
		for i, s := range g.sides {
			sides[i] = double{wide(s.vectors), wide(s.squares), wide(s.biases), wide(s.squaresOfBiases)}
		}
		for unit := range o.Epochs {
			want := 0.0
			for i := range sides {
				s, rests := &sides[i], &sides[1-i]
				for row := range rows {
					contexts, values := m.Row(row)
					order := shuffled(nil, o.Seed, corpus.StreamEntries.Sub(uint32(2*unit+i)), row, len(contexts))
					for some := range slices.Chunk(order, group) {
						gradient, bias, curvature := make([]float64, o.Dim), 0.0, 0.0
						for _, at := range some {
							j, x := int(contexts[at]), float64(values[at])
							off := s.biases[row] + rests.biases[j] - math.Log(x)
							for d := range o.Dim {
								off += s.vectors[row*o.Dim+d] * rests.vectors[j*o.Dim+d]
							}
							weight := min(1, math.Pow(x/o.XMax, 0.75))
							want += 0.5 * weight * off * off
							for d := range o.Dim {
								gradient[d] += 0.05 * weight * off * rests.vectors[j*o.Dim+d]
							}
							bias += 0.05 * weight * off
							curvature += weight
							for d := range o.Dim {
								curvature += weight * rests.vectors[j*o.Dim+d] * rests.vectors[j*o.Dim+d]
							}
						}
						most := min(1, 2/(0.05*curvature))
						bias *= most
						for d := range gradient {
							gradient[d] *= most
						}
						for d, v := range gradient {
							at := row*o.Dim + d
							s.vectors[at] -= v / math.Sqrt(s.squares[at])
							s.squares[at] += v * v
						}
						s.biases[row] -= bias / math.Sqrt(s.biasSquares[row])
						s.biasSquares[row] += bias * bias
					}
				}
			}
			report, err := g.Advance(t.Context(), unit, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(report.Loss-want) > 1e-4*(want+1) {
				t.Errorf("%d rows, epoch %d: loss %v, want %v", rows, unit, report.Loss, want)
			}
		}
		for i, s := range g.sides {
			for k, x := range s.vectors {
				if want := sides[i].vectors[k]; math.Abs(float64(x)-want) > 1e-3 {
					t.Fatalf("%d rows, table %d, value %d is %v, want %v", rows, i, k, x, want)
				}
			}
		}
	}
}

// TestGloVeOrder: a row's order has each number once, and rows, epochs and tables have orders of their own.
// Every number comes first as often as any other: within six deviations of 4,000 throws.
func TestGloVeOrder(t *testing.T) {
	const n, rows = 40, 4000
	first := make([]int, n)
	seen := map[string]bool{}
	for row := range rows {
		order := shuffled(nil, 1, corpus.StreamEntries.Sub(uint32(row%3)), row, n)
		first[order[0]]++
		seen[fmt.Sprint(order)] = true
		slices.Sort(order)
		for k, at := range order {
			if int(at) != k {
				t.Fatalf("row %d: number %d is missing", row, k)
			}
		}
	}
	if len(seen) != rows {
		t.Errorf("%d rows have %d orders", rows, len(seen))
	}
	for k, times := range first {
		if math.Abs(float64(times)-rows/n) > 6*math.Sqrt(rows/n) {
			t.Errorf("number %d comes first %d times of %d", k, times, rows)
		}
	}
	if order := shuffled(nil, 1, corpus.StreamEntries, 0, 0); len(order) != 0 {
		t.Errorf("an empty row has the order %v", order)
	}
	if slices.Equal(shuffled(nil, 1, corpus.StreamEntries, 7, n), shuffled(nil, 1, corpus.StreamEntries.Sub(1), 7, n)) {
		t.Error("the two tables have the same order")
	}
}

// TestGloVeIsStable: where many counts are high, so that the entries of a group pull a row the same
// way, the loss still falls.
func TestGloVeIsStable(t *testing.T) {
	const rows = 300
	r := rand.New(rand.NewPCG(1, 2))
	m := &Matrix{contexts: make([][]uint32, rows), values: make([][]float32, rows)}
	for i := range rows {
		for j := range rows {
			x := 1e6 / float64(i+1) / float64(j+1) * r.ExpFloat64()
			m.contexts[i], m.values[i] = append(m.contexts[i], uint32(j)), append(m.values[i], float32(x))
		}
	}
	g := gloVe(t, m, GloVeOptions{Dim: 100, XMax: 10, Epochs: 16, Seed: 1, Threads: 2})
	least := math.Inf(1)
	for unit := range g.Units() {
		report, err := g.Advance(t.Context(), unit, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if report.Loss > 1.01*least {
			t.Errorf("epoch %d: loss %v after %v", unit, report.Loss, least)
		}
		least = min(least, report.Loss)
	}
}

// TestGloVeGoesOn: threads do not matter, nor does an interruption.
func TestGloVeGoesOn(t *testing.T) {
	m := sparse(300, 0.2)
	o := GloVeOptions{Dim: 7, XMax: 3, Epochs: 4, Seed: 3, Threads: 1}
	whole := gloVe(t, m, o)
	train(t, whole, 0)
	o.Threads = 5
	goesOn(t, whole, func() trainer.Trainer { return gloVe(t, m, o) })
}
