package cuda

import "testing"

// Rows are padded to whole sectors, and to whole lines where that adds a twelfth at most.
func TestPadded(t *testing.T) {
	for _, x := range []struct{ dim, float32, half int }{
		{1, 8, 16}, {50, 56, 64}, {100, 104, 112}, {128, 128, 128}, {200, 200, 208}, {250, 256, 256}, {300, 320, 320},
		{340, 352, 352}, {480, 480, 512}, {500, 512, 512}, {700, 704, 704}, {1000, 1024, 1024}, {1024, 1024, 1024},
	} {
		if got := 4 * Quads(x.dim); got != x.float32 {
			t.Errorf("dimension %d: rows of %d float32, want %d", x.dim, got, x.float32)
		}
		if got := Padded(x.dim, 2); got != x.half {
			t.Errorf("dimension %d: rows of %d bfloat16, want %d", x.dim, got, x.half)
		}
	}
	for dim := 1; dim <= MaxDim; dim++ { // package device estimates memory so
		if rows := 4 * Quads(dim); rows%8 != 0 || rows < dim || rows > dim+max(7, dim/12) {
			t.Errorf("dimension %d: rows of %d", dim, rows)
		}
	}
}
