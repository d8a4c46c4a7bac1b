package parallel

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 4095, 8192, 8193, 40_001, 100_000} {
		for _, threads := range []int{1, 2, 3, 16} {
			x := make([]int, n)
			for i := range x {
				x[i] = r.IntN(1 + n/2)
			}
			want := slices.Sorted(slices.Values(x))
			if err := Sort(t.Context(), threads, x, cmp.Compare); err != nil || !slices.Equal(x, want) {
				t.Errorf("%d values, %d threads: not sorted, %v", n, threads, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Sort(ctx, 2, make([]int, 100_000), cmp.Compare); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
