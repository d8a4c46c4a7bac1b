package composed

import (
	"math"
	"testing"
)

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
