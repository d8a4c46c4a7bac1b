package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// windowSizes are all lengths of rows to beyond twice the 32 values that a kernel
// takes at a time, and the dimensions people use; fewer of them in short tests.
func windowSizes() []int {
	if testing.Short() {
		return []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 50, 63, 64, 65, 70, 100}
	}
	var sizes []int
	for n := 1; n <= 70; n++ {
		sizes = append(sizes, n)
	}
	return append(sizes, 100, 128, 300, 1000)
}

// windowShapes are numbers of lefts and rights around the groups of two and six.
var windowShapes = [][2]int{{1, 6}, {2, 6}, {3, 6}, {6, 6}, {7, 6}, {10, 6}, {1, 1}, {4, 1}, {17, 2}, {5, 5}, {1, 7}, {6, 11}, {3, 12}, {24, 25}, {2, 20}}

// A window holds the kernels' inputs in float32 and the wanted results in float64.
type window struct {
	n                   int
	left, right         []float32
	allLeft, allRight   []float32 // with guard bands
	lefts, rights       []uint32
	coefficients        []float32
	wantLeft, wantRight []float64 // after Update
	sizeLeft, sizeRight []float64 // sums of absolute values of the terms
	scores, sizes       []float64
}

const windowRows = 7 // fewer than the larger windows have, so that rows repeat

func newWindow(r *rand.Rand, n, m, s int) *window {
	w := &window{n: n, lefts: make([]uint32, m), rights: make([]uint32, s)}
	w.left, w.allLeft = guarded(windowRows * n)
	w.right, w.allRight = guarded(windowRows * n)
	w.coefficients = random(r, make([]float32, m*s))
	random(r, w.left)
	random(r, w.right)
	for i := range w.lefts {
		w.lefts[i] = uint32(r.IntN(windowRows))
	}
	for k := range w.rights {
		w.rights[k] = uint32(r.IntN(windowRows))
	}
	w.expect()
	return w
}

// expect computes the wanted results in float64.
func (w *window) expect() {
	wide := func(x []float32) (value, size []float64) {
		for _, v := range x {
			value, size = append(value, float64(v)), append(size, math.Abs(float64(v)))
		}
		return value, size
	}
	w.wantLeft, w.sizeLeft = wide(w.left)
	w.wantRight, w.sizeRight = wide(w.right)
	for i, l := range w.lefts {
		for k, r := range w.rights {
			c := float64(w.coefficients[i*len(w.rights)+k])
			score, size := 0.0, 0.0
			for j := range w.n {
				at, to := int(l)*w.n+j, int(r)*w.n+j
				x, y := float64(w.left[at]), float64(w.right[to])
				score, size = score+x*y, size+math.Abs(x*y)
				w.wantLeft[at] += c * y
				w.wantRight[to] += c * x
				w.sizeLeft[at] += math.Abs(c * y)
				w.sizeRight[to] += math.Abs(c * x)
			}
			w.scores, w.sizes = append(w.scores, score), append(w.sizes, size)
		}
	}
}

func TestScoresAndUpdate(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		var workspace Workspace
		for _, n := range windowSizes() {
			for _, shape := range windowShapes {
				m, s := shape[0], shape[1]
				name := fmt.Sprintf("n=%d m=%d s=%d", n, m, s)
				w := newWindow(r, n, m, s)
				scores, all := guarded(m * s)
				Scores(scores, w.left, w.lefts, w.right, w.rights, n)
				checkGuards(t, "Scores "+name, m*s, all)
				checkNear(t, "Scores "+name, scores, w.scores, w.sizes)
				checkGuards(t, "left of Scores "+name, windowRows*n, w.allLeft)
				next := []uint32{6, 5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 6}[:r.IntN(15)]
				workspace.Update(w.left, w.lefts, w.right, w.rights, w.coefficients, n, next)
				checkGuards(t, "left of Update "+name, windowRows*n, w.allLeft)
				checkGuards(t, "right of Update "+name, windowRows*n, w.allRight)
				checkNear(t, "left of Update "+name, w.left, w.wantLeft, w.sizeLeft)
				checkNear(t, "right of Update "+name, w.right, w.wantRight, w.sizeRight)
			}
		}
	})
}

func checkNear(t *testing.T, name string, got []float32, want, sizes []float64) {
	t.Helper()
	for i := range got {
		if !near(float64(got[i]), want[i], sizes[i]) {
			t.Fatalf("%s [%d]: %v, want %v", name, i, got[i], want[i])
		}
	}
}

// A window without lefts, rights or values changes nothing.
func TestEmptyWindow(t *testing.T) {
	eachLevel(t, func(t *testing.T, _ *rand.Rand) {
		var workspace Workspace
		left, right := []float32{1, 2}, []float32{3, 4}
		row := []uint32{0}
		for _, test := range []struct{ lefts, rights []uint32 }{{nil, nil}, {row, nil}, {nil, row}} {
			Scores(nil, left, test.lefts, right, test.rights, 2)
			workspace.Update(left, test.lefts, right, test.rights, nil, 2, nil)
		}
		Scores([]float32{0}, nil, row, nil, row, 0)
		workspace.Update(nil, row, nil, row, []float32{1}, 0, nil)
		Gradients(nil, nil, nil, 1, nil)
		if !slices.Equal(left, []float32{1, 2}) || !slices.Equal(right, []float32{3, 4}) {
			t.Fatal(left, right)
		}
	})
}

func TestGradients(t *testing.T) {
	const rate = 0.03
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 30, 36, 40, 63, 64, 65, 200} {
			scores, kinds := random(r, make([]float32, n)), make([]uint32, n)
			for j := range scores {
				scores[j] *= 20
				if r.IntN(3) == 0 {
					kinds[j] = Positive
				}
			}
			coefficients, all := guarded(n)
			loss, wantLoss := NewLoss(), 0.0
			Gradients(coefficients, scores, kinds, -rate, &loss)
			checkGuards(t, "coefficients", n, all)
			for j, s := range scores {
				x, sign := float64(s), -1.0
				if kinds[j] == Positive {
					x, sign = -x, 1
				}
				e := math.Exp(min(max(x, -87), 80))
				want := sign * rate * e / (1 + e)
				wantLoss += math.Log1p(e)
				if math.Abs(float64(coefficients[j])-want) > 2e-6*math.Abs(want) {
					t.Fatalf("score %v kind %x: coefficient %v, want %v", s, kinds[j], coefficients[j], want)
				}
			}
			if got := loss.Total(); math.Abs(got-wantLoss) > 1e-6*(wantLoss+1) {
				t.Fatalf("%d scores: loss %v, want %v", n, got, wantLoss)
			}
		}
	})
}

// The loss of very many scores, and of the largest there are, is finite.
func TestLossIsFinite(t *testing.T) {
	eachLevel(t, func(t *testing.T, _ *rand.Rand) {
		for _, score := range []float32{1, 1e30} {
			scores, kinds := slices.Repeat([]float32{score}, 500), make([]uint32, 500)
			loss := NewLoss()
			for range 100 {
				Gradients(make([]float32, 500), scores, kinds, 1, &loss)
			}
			want := 50000 * math.Log1p(math.Exp(min(float64(score), 80)))
			if got := loss.Total(); math.Abs(got-want) > 1e-6*want {
				t.Errorf("score %v: loss %v, want %v", score, got, want)
			}
		}
	})
}

func TestGradientsExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T, _ *rand.Rand) {
		scores := []float32{inf, -inf, 1e30, -1e30, nan, 200, -200, 0, nan, inf, -inf}
		for _, kind := range []uint32{Negative, Positive} {
			for j, s := range scores {
				c, loss := make([]float32, 1), NewLoss()
				Gradients(c, scores[j:j+1], []uint32{kind}, 1, &loss)
				isNaN := s != s
				total := loss.Total()
				if (c[0] != c[0]) != isNaN || (total != total) != isNaN || math.IsInf(total, 0) || math.Abs(float64(c[0])) > 1 {
					t.Errorf("score %v, kind %x: coefficient %v, loss %v", s, kind, c[0], total)
				}
			}
		}
	})
}

func TestWindowLevelsSameBits(t *testing.T) {
	if len(Levels()) < 3 {
		t.Skip("needs AVX2 and AVX-512")
	}
	best := Current()
	defer func() { _ = Use(best) }()
	r := rand.New(rand.NewPCG(rand.Uint64(), 4))
	var workspace Workspace
	for _, n := range windowSizes() {
		for _, shape := range windowShapes {
			w := newWindow(r, n, shape[0], shape[1])
			left, right := slices.Clone(w.left), slices.Clone(w.right)
			var want []float32
			for _, l := range []Level{AVX2, AVX512} {
				_ = Use(l)
				copy(w.left, left)
				copy(w.right, right)
				got := make([]float32, len(w.coefficients))
				Scores(got, w.left, w.lefts, w.right, w.rights, n)
				workspace.Update(w.left, w.lefts, w.right, w.rights, slices.Clone(w.coefficients), n, nil)
				got = slices.Concat(got, w.left, w.right)
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Fatalf("n=%d, %v: AVX2 and AVX-512 differ", n, shape)
				}
			}
		}
	}
}

func TestGradientsLevelsSameBits(t *testing.T) {
	if len(Levels()) < 3 {
		t.Skip("needs AVX2 and AVX-512")
	}
	best := Current()
	defer func() { _ = Use(best) }()
	r := rand.New(rand.NewPCG(rand.Uint64(), 4))
	for n := 1; n <= 80; n++ {
		scores, kinds := random(r, make([]float32, n)), make([]uint32, n)
		for j := range kinds {
			kinds[j] = uint32(r.IntN(2)) << 31
		}
		var want []float32
		var wantLoss Loss
		for _, l := range []Level{AVX2, AVX512} {
			_ = Use(l)
			got, loss := make([]float32, n), NewLoss()
			Gradients(got, scores, kinds, 0.1, &loss)
			if want == nil {
				want, wantLoss = got, loss
			}
			if !slices.Equal(got, want) || loss != wantLoss {
				t.Fatalf("%d scores: AVX2 and AVX-512 differ", n)
			}
		}
	}
}

func TestPrefetchForUpdateChangesNothing(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		table := random(r, make([]float32, 300))
		want := slices.Clone(table)
		for _, n := range []int{0, 1, 15, 16, 17, 100} {
			PrefetchForUpdate(table, []uint32{0, 2, 1}, n)
			PrefetchForUpdate(table, nil, n)
		}
		if !slices.Equal(table, want) {
			t.Error("the table has changed")
		}
	})
}

func TestUpdateAllocatesOnce(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, s := range []int{3, 6, 11} {
			w := newWindow(r, 40, 10, s)
			var workspace Workspace
			if n := testing.AllocsPerRun(10, func() {
				workspace.Update(w.left, w.lefts, w.right, w.rights, w.coefficients, w.n, nil)
			}); n != 0 {
				t.Errorf("%d rights: %v allocations", s, n)
			}
		}
	})
}

// benchmarkWindow measures windows of six lefts and six rights.
func benchmarkWindow(b *testing.B, m int, f func(w *window, n int)) {
	for _, l := range Levels() {
		for _, n := range []int{128, 300} {
			b.Run(fmt.Sprintf("%s/n=%d", l, n), func(b *testing.B) {
				best := Current()
				defer func() { _ = Use(best) }()
				_ = Use(l)
				w := newWindow(rand.New(rand.NewPCG(1, 1)), n, m, 6)
				clear(w.coefficients) // so that values stay as they are
				for k := range 6 {
					w.lefts[k%m], w.rights[k] = uint32(k%m), uint32(k)
				}
				for b.Loop() {
					f(w, n)
				}
			})
		}
	}
}

func BenchmarkScores6x6(b *testing.B) {
	out := make([]float32, 36)
	benchmarkWindow(b, 6, func(w *window, n int) { Scores(out, w.left, w.lefts, w.right, w.rights, n) })
}

func BenchmarkScores1x6(b *testing.B) {
	out := make([]float32, 36)
	benchmarkWindow(b, 1, func(w *window, n int) { Scores(out, w.left, w.lefts, w.right, w.rights, n) })
}

func BenchmarkUpdate6x6(b *testing.B) {
	var workspace Workspace
	benchmarkWindow(b, 6, func(w *window, n int) {
		workspace.Update(w.left, w.lefts, w.right, w.rights, w.coefficients, n, nil)
	})
}

func BenchmarkUpdate1x6(b *testing.B) {
	var workspace Workspace
	benchmarkWindow(b, 1, func(w *window, n int) {
		workspace.Update(w.left, w.lefts, w.right, w.rights, w.coefficients, n, nil)
	})
}

func BenchmarkGradients36(b *testing.B) {
	scores, kinds := make([]float32, 36), make([]uint32, 36)
	c, loss := make([]float32, 36), NewLoss()
	best := Current()
	defer func() { _ = Use(best) }()
	for _, l := range Levels() {
		_ = Use(l)
		b.Run(string(l), func(b *testing.B) {
			for b.Loop() {
				Gradients(c, scores, kinds, 0.025, &loss)
			}
		})
	}
}
