package memory

import "testing"

func TestFloats(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 20, 1<<20 + 1, 3<<20 - 1} {
		x := Floats(n)
		if len(x) != n || cap(x) != n {
			t.Fatalf("Floats(%d): length %d, capacity %d", n, len(x), cap(x))
		}
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("Floats(%d)[%d] = %v", n, i, x[i])
			}
			x[i] = 1
		}
	}
}
