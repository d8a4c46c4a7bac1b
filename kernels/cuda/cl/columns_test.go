//go:build gpu

package cl

import "testing"

// No round of rows is nearly empty if fewer warps avoid that.
func TestChoose(t *testing.T) {
	for _, x := range []struct{ groups, most, size, want int }{
		{9058, 8, 4, 7}, {4529, 8, 4, 6}, {2265, 8, 4, 5}, {9058, 4, 8, 4}, {33_935, 12, 1, 12}, {9058, 12, 1, 12}, {1, 8, 1, 4}, {500_000, 1, 8, 1},
	} {
		if got := columnsKernels[x.size].choose(x.groups, 132, x.most, x.size); got != x.want {
			t.Errorf("%d groups, size %d: %d warps, want %d", x.groups, x.size, got, x.want)
		}
	}
}
