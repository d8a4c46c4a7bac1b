package wordcontext

import "testing"

// In an epoch each step uses every column once, and the two steps of an
// iteration use columns that are l/2 apart.
func TestStepColumn(t *testing.T) {
	for _, l := range []int{1, 2, 5, 64} {
		m := &Matrix{options: Options{Contexts: l}}
		for step := range 2 {
			used := make([]int, l)
			for j := 3 * l; j < 4*l; j++ {
				column := m.StepColumn(j, step)
				used[column]++
				if want := (m.StepColumn(j, 0) + step*(l/2)) % l; column != want {
					t.Errorf("l = %d, iteration %d: step %d uses column %d, want %d", l, j, step, column, want)
				}
			}
			for column, n := range used {
				if n != 1 {
					t.Errorf("l = %d: step %d uses column %d %d times in an epoch", l, step, column, n)
				}
			}
		}
		if got := m.StepColumn(0, 0); got != 0 {
			t.Errorf("l = %d: training begins with column %d", l, got)
		}
	}
}

// Bytes counts the stored arrays, whatever the width of an id.
func TestBytes(t *testing.T) {
	narrow := &Matrix{totals: make([]uint64, 3), narrow: make([]uint16, 10)}
	wide := &Matrix{totals: make([]uint64, 3), wide: make([]uint32, 10)}
	if got, want := narrow.Bytes(), int64(2*10+3*3*8); got != want {
		t.Errorf("narrow: %d bytes, want %d", got, want)
	}
	if got, want := wide.Bytes(), int64(4*10+3*3*8); got != want {
		t.Errorf("wide: %d bytes, want %d", got, want)
	}
}
