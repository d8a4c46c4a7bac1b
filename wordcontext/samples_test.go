package wordcontext

import "testing"

// Without tempering, step 0 of iteration j trains on entry j mod l of every row, and
// step 1 on the one that is l/2 further.
func TestSharesWithoutTempering(t *testing.T) {
	for _, l := range []int{1, 2, 5, 64} {
		m := build(t, testCorpus(41, 9, 60, 10), Options{Window: 2, Contexts: l, Passes: 1})
		for j := range 4 * l {
			for step := range 2 {
				for i := range m.Rows() {
					first, count := m.Share(i, j, step)
					if want := (j + step*(l/2)) % l; first != uint64(want) || count != 1 || m.Updates(i, j) != j+1 {
						t.Fatalf("l = %d, iteration %d, step %d: %d entries from %d, want 1 from %d", l, j, step, count, first, want)
					}
				}
			}
		}
	}
}

// Bytes counts the stored arrays, whatever the width of an id.
func TestBytes(t *testing.T) {
	narrow := &Matrix{totals: make([]uint64, 3), narrow: make([]uint16, 10)}
	wide := &Matrix{totals: make([]uint64, 3), wide: make([]uint32, 10)}
	if got, want := narrow.Bytes(), int64(2*10+3*(3*8+3*4)); got != want {
		t.Errorf("narrow: %d bytes, want %d", got, want)
	}
	if got, want := wide.Bytes(), int64(4*10+3*(3*8+3*4)); got != want {
		t.Errorf("wide: %d bytes, want %d", got, want)
	}
}
