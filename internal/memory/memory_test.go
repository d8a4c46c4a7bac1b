package memory

import (
	"math"
	"slices"
	"testing"
)

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

func TestTouch(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 10, 9<<20 + 5} {
		x := Floats(n)
		for i := range x {
			switch i % 3 {
			case 0:
				x[i] = float32(i) - 1e6
			case 1:
				x[i] = float32(math.Copysign(0, -1))
			}
		}
		want := slices.Clone(x)
		Touch(x, 3)
		for i := range x {
			if math.Float32bits(x[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%d values: value %d became %v, was %v", n, i, x[i], want[i])
			}
		}
	}
}

func TestResize(t *testing.T) {
	var x []int
	for _, n := range []int{0, 1, 100, 3, 125, 126, 0} {
		before := x
		x = Resize(x, n)
		if len(x) != n {
			t.Fatalf("length %d, want %d", len(x), n)
		}
		if n > 0 && n <= cap(before) && &x[0] != &before[:n][0] {
			t.Errorf("%d values got new memory despite a capacity of %d", n, cap(before))
		}
	}
}
