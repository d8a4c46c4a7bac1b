package composed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rows lose the mean of W, and nothing else.
func TestCenter(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	v, n := 1+r.IntN(50), 1+r.IntN(20)
	words, rows, want := make([]float32, v*n), make([]float32, v*n), make([]float32, v*n)
	for i := range words {
		words[i], rows[i] = r.Float32()+1, r.Float32()
	}
	for j := range n {
		mean := 0.0
		for w := range v {
			mean += float64(words[w*n+j]) / float64(v)
		}
		for w := range v {
			want[w*n+j] = rows[w*n+j] - float32(mean)
		}
	}
	Center(rows, words, n)
	for i, x := range want {
		if math.Abs(float64(rows[i]-x)) > 1e-6 {
			t.Fatalf("seed %d: value %d is %v, want %v", seed, i, rows[i], x)
		}
	}
	Center(nil, nil, n) // no words
}

// As many words change a part undamped as keeps their number times the rate, and times the threads from the third one on, the same.
func TestUndamped(t *testing.T) {
	c := Composition{Most: 16}
	for _, x := range []struct {
		rate    float32
		threads int
		want    float32
	}{
		{0.025, 1, 16}, {0.025, 2, 16}, {0.025, 8, 4}, {0.05, 1, 8}, {0.0125, 1, 32}, {0.0125, 8, 8}, {0.025, 64, 1}, {1, 1, 1},
	} {
		if m := c.Undamped(x.rate, x.threads); math.Abs(float64(m-x.want)) > 1e-5 {
			t.Errorf("rate %v, %d threads: %v words, want %v", x.rate, x.threads, m, x.want)
		}
	}
	if m := c.Undamped(0, 1); !math.IsInf(float64(m), 1) {
		t.Errorf("rate 0: %v words, want all", m)
	}
	if m := (&Composition{}).Undamped(0.025, 1); m != math.MaxFloat32 {
		t.Errorf("without a bound: %v words, want all", m)
	}
}
