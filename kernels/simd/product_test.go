package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Products of every size around the tiles, with rows longer than the matrix and
// both orders of a, against float64; all vector levels give the same bits.
func TestAddProduct(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {5, 3, 2}, {6, 16, 1}, {6, 32, 7}, {7, 17, 5}, {11, 31, 3}, {12, 33, 4}, {13, 100, 192}, {1, 64, 9}, {18, 15, 8}, {6, 47, 3}, {7, 48, 2}, {12, 49, 5}, {6, 64, 3}, {6, 65, 4}, {24, 80, 11}, {6, 129, 3}, {13, 300, 16}}
	results := map[[4]int]map[Level][]float32{}
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, size := range sizes {
			m, n, k := size[0], size[1], size[2]
			for transposed := range 2 {
				const gap = 3 // between rows
				c, all := guarded(m * (n + gap))
				random(r, c)
				a, _ := guarded(m * k)
				random(r, a)
				b, _ := guarded((k-1)*(n+gap) + n)
				random(r, b)
				view := RowMajor(a, k)
				if transposed == 1 {
					view = Transposed(a, m)
				}
				want, bound := make([]float64, len(c)), make([]float64, len(c))
				for i := range c {
					want[i] = float64(c[i])
				}
				for i := range m {
					for j := range n {
						for l := range k {
							x := float64(view.Data[i*view.Row+l*view.Column]) * float64(b[l*(n+gap)+j])
							want[i*(n+gap)+j] += x
							bound[i*(n+gap)+j] += math.Abs(x) + math.Abs(float64(c[i*(n+gap)+j]))
						}
					}
				}
				AddProduct(c, n+gap, view, b, n+gap, m, n, k)
				checkGuards(t, "AddProduct", len(c), all)
				for i := range c {
					if math.Abs(float64(c[i])-want[i]) > 1e-6*bound[i] {
						t.Fatalf("%d x %d x %d at %s: c[%d] = %v, want %v", m, n, k, Current(), i, c[i], want[i])
					}
				}
				key := [4]int{m, n, k, transposed}
				if results[key] == nil {
					results[key] = map[Level][]float32{}
				}
				results[key][Current()] = slices.Clone(c)
			}
		}
	})
	for key, of := range results {
		if a, b := of[AVX2], of[AVX512]; a != nil && b != nil && !slices.Equal(a, b) {
			t.Errorf("%v: AVX2 and AVX-512 differ", key)
		}
	}
}

func TestAddProductOfNothing(t *testing.T) {
	c := []float32{1}
	for _, size := range [][3]int{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		AddProduct(c, 1, RowMajor(nil, 1), nil, 1, size[0], size[1], size[2])
	}
	if c[0] != 1 {
		t.Errorf("an empty product changed c to %v", c[0])
	}
}

func TestConvolveMax(t *testing.T) {
	const alphabet = 5
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, filters := range []int{16, 32, 80} {
			for width := 1; width <= 4; width++ {
				for length := 1; length <= 9; length++ {
					size := alphabet * filters
					tables := make([]float32, width*size)
					for i := range tables { // few values, so that ties occur
						tables[i] = float32(r.IntN(5)) - 2.5
					}
					symbols := make([]uint32, length)
					for i := range symbols {
						symbols[i] = uint32(r.IntN(alphabet))
					}
					floor := []float32{0, -1, float32(math.Inf(-1))}[r.IntN(3)]
					out, all := guarded(filters)
					where, want := make([]uint32, filters+1), make([]uint32, filters)
					wantOut := make([]float32, filters)
					convolveMaxGo(wantOut, want, tables, size, symbols, width, floor)
					ConvolveMax(out, where[:filters], tables, size, symbols, width, floor)
					checkGuards(t, "ConvolveMax", filters, all)
					if !slices.Equal(out, wantOut) || !slices.Equal(where[:filters], want) || where[filters] != 0 {
						t.Fatalf("%d filters of width %d over %d symbols at %s:\n%v\n%v\nwant\n%v\n%v", filters, width, length, Current(), out, where, wantOut, want)
					}
				}
			}
		}
	})
}

// The first of equal values gives the position; a value not above 0 gives none.
func TestConvolveMaxTie(t *testing.T) {
	tables := make([]float32, 2*16) // two symbols, width 1
	tables[0], tables[16] = 3, 3
	tables[1], tables[17] = -1, 0
	tables[2], tables[18] = 1, 2
	out, where := make([]float32, 16), make([]uint32, 16)
	eachLevel(t, func(t *testing.T, _ *rand.Rand) {
		ConvolveMax(out, where, tables, 32, []uint32{0, 1, 0, 1}, 1, 0)
		if got, want := where[:3], []uint32{0, NoPosition, 1}; !slices.Equal(got, want) {
			t.Errorf("positions %v, want %v", got, want)
		}
		if got, want := out[:3], []float32{3, 0, 2}; !slices.Equal(got, want) {
			t.Errorf("maxima %v, want %v", got, want)
		}
	})
}
