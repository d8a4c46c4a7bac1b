package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Sizes around the lanes of the kernels (8, 16), plus the dimensions people use.
var sizes = []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 48, 50, 64, 100, 128, 300, 500}

// Numbers of rows around the group of six.
var counts = []int{1, 2, 5, 6, 7, 11, 12, 13, 21}

const guard = float32(12345.678)

// guarded returns a slice of n values with a band of guard values on each side.
func guarded(n int) (values, all []float32) {
	all = make([]float32, n+64)
	for i := range all {
		all[i] = guard
	}
	return all[32 : 32+n : 32+n], all
}

func checkGuards(t *testing.T, name string, n int, all []float32) {
	t.Helper()
	for i, x := range all {
		if (i < 32 || i >= 32+n) && x != guard {
			t.Fatalf("%s wrote outside its slice, at %d of %d", name, i-32, n)
		}
	}
}

func random(r *rand.Rand, x []float32) []float32 {
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// eachLevel runs the test once per level of this machine, each on the same
// fresh random numbers, and restores the level.
func eachLevel(t *testing.T, f func(t *testing.T, r *rand.Rand)) {
	best := Current()
	seed := rand.Uint64()
	defer func() { _ = Use(best) }()
	for _, l := range Levels() {
		if err := Use(l); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%s/seed=%d", l, seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func near(a, b, scale float64) bool { return math.Abs(a-b) <= 2e-6*scale }

func TestDotsAndCombine(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, n := range sizes {
			for _, count := range counts {
				const tableRows = 9
				left, _ := guarded(n)
				table, _ := guarded(tableRows * n)
				random(r, left)
				random(r, table)
				rows := make([]uint32, count)
				for k := range rows {
					rows[k] = uint32(r.IntN(tableRows))
				}
				scores, all := guarded(count)
				Dots(scores, left, table, rows)
				checkGuards(t, "Dots", count, all)
				for k, row := range rows {
					var want, size float64
					for j := range left {
						p := float64(left[j]) * float64(table[int(row)*n+j])
						want, size = want+p, size+math.Abs(p)
					}
					if !near(float64(scores[k]), want, size) {
						t.Fatalf("Dots n=%d count=%d k=%d: %v, want %v", n, count, k, scores[k], want)
					}
				}
				coefficients, _ := guarded(count)
				random(r, coefficients)
				out, all := guarded(n)
				Combine(out, coefficients, table, rows)
				checkGuards(t, "Combine", n, all)
				for j := range out {
					var want, size float64
					for k, row := range rows {
						p := float64(coefficients[k]) * float64(table[int(row)*n+j])
						want, size = want+p, size+math.Abs(p)
					}
					if !near(float64(out[j]), want, size) {
						t.Fatalf("Combine n=%d count=%d j=%d: %v, want %v", n, count, j, out[j], want)
					}
				}
			}
		}
	})
}

func TestCombineNoRowsClears(t *testing.T) {
	eachLevel(t, func(t *testing.T, _ *rand.Rand) {
		out := []float32{1, 2, 3}
		Combine(out, nil, []float32{1, 2, 3}, nil)
		if out[0] != 0 || out[1] != 0 || out[2] != 0 {
			t.Fatal(out)
		}
	})
}

func TestDot(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, n := range append([]int{0}, sizes...) {
			x, y := random(r, make([]float32, n)), random(r, make([]float32, n))
			var want, size float64
			for j := range x {
				p := float64(x[j]) * float64(y[j])
				want, size = want+p, size+math.Abs(p)
			}
			if got := Dot(x, y); !near(float64(got), want, size) {
				t.Fatalf("n=%d: %v, want %v", n, got, want)
			}
		}
	})
}

func TestLogistic(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for count := 0; count <= 25; count++ {
			scores, _ := guarded(count)
			for k := range scores {
				scores[k] = float32(r.NormFloat64() * 20)
			}
			gradient, allG := guarded(count)
			factors, allF := guarded(count)
			Logistic(gradient, factors, scores)
			checkGuards(t, "Logistic gradient", count, allG)
			checkGuards(t, "Logistic factors", count, allF)
			for k, s := range scores {
				x := float64(s)
				if k == 0 {
					x = -x
				}
				e := math.Exp(min(max(x, -87), 80))
				want := e / (1 + e)
				if k == 0 {
					want = -want
				}
				if math.Abs(float64(gradient[k])-want) > 1e-6*math.Abs(want) || math.Abs(float64(factors[k])-(1+e)) > 1e-6*(1+e) {
					t.Fatalf("score %v (k=%d): gradient %v want %v, factor %v want %v", s, k, gradient[k], want, factors[k], 1+e)
				}
			}
		}
	})
}

func TestLogisticExtremes(t *testing.T) {
	inf := float32(math.Inf(1))
	eachLevel(t, func(t *testing.T, _ *rand.Rand) {
		scores := []float32{inf, inf, -inf, 1e30, -1e30, 0, float32(math.NaN()), 200, -200}
		g, f := make([]float32, len(scores)), make([]float32, len(scores))
		Logistic(g, f, scores)
		for k := range scores {
			nan := scores[k] != scores[k]
			if (g[k] != g[k]) != nan || (f[k] != f[k]) != nan || math.IsInf(float64(f[k]), 0) {
				t.Errorf("score %v: gradient %v, factor %v", scores[k], g[k], f[k])
			}
		}
		if g[5] != 0.5 || f[5] != 2 {
			t.Errorf("score 0: gradient %v, factor %v", g[5], f[5])
		}
	})
}

// The element-wise kernels promise the same bits at every level.
func TestUpdatesSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 2))
	best := Current()
	defer func() { _ = Use(best) }()
	for _, n := range append([]int{0}, sizes...) {
		w0, m0, v0, g := random(r, make([]float32, n)), random(r, make([]float32, n)), random(r, make([]float32, n)), random(r, make([]float32, n))
		for j := range v0 {
			v0[j] *= v0[j]
		}
		step := AdamStep{Beta1: .9, OneMinusBeta1: .1, Beta2: .999, OneMinusBeta2: .001, Keep: .9999, Scale: .002, Epsilon: 1e-8}
		var want [][]float32
		for _, l := range Levels() {
			if err := Use(l); err != nil {
				t.Fatal(err)
			}
			var got [][]float32
			var bands [][]float32
			for _, src := range [][]float32{w0, m0, v0, w0, m0, w0} {
				x, all := guarded(n)
				copy(x, src)
				got, bands = append(got, x), append(bands, all)
			}
			Adam(got[0], got[1], got[2], g, &step)
			Momentum(got[3], got[4], g, .9, .999, .01)
			SGD(got[5], g, .999, .01)
			for i := range bands {
				checkGuards(t, "update", n, bands[i])
			}
			if want == nil {
				want = got
				continue
			}
			for i := range got {
				for j := range got[i] {
					if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
						t.Fatalf("%s n=%d array %d [%d]: %v, plain Go gives %v", l, n, i, j, got[i][j], want[i][j])
					}
				}
			}
		}
	}
}

// A twin of Adam in float64 keeps the formula itself honest.
func TestAdamFormula(t *testing.T) {
	w, m, v := []float32{1}, []float32{.5}, []float32{.25}
	s := AdamStep{Beta1: .9, OneMinusBeta1: .1, Beta2: .99, OneMinusBeta2: .01, Keep: .5, Scale: .1, Epsilon: .01}
	Adam(w, m, v, []float32{2}, &s)
	wantM, wantV := .9*.5+.1*2, .99*.25+.01*4
	wantW := .5 - .1*wantM/(math.Sqrt(wantV)+.01)
	if !near(float64(m[0]), wantM, 1) || !near(float64(v[0]), wantV, 1) || !near(float64(w[0]), wantW, 1) {
		t.Fatal(w, m, v, wantW, wantM, wantV)
	}
}

func TestVectorLevelsSameBits(t *testing.T) {
	if len(Levels()) < 3 {
		t.Skip("needs AVX2 and AVX-512")
	}
	best := Current()
	defer func() { _ = Use(best) }()
	r := rand.New(rand.NewPCG(rand.Uint64(), 3))
	for _, n := range sizes {
		left, table := random(r, make([]float32, n)), random(r, make([]float32, 20*n))
		rows := []uint32{3, 1, 4, 1, 5, 9, 2, 6}
		c := random(r, make([]float32, len(rows)))
		var want []float32
		for _, l := range []Level{AVX2, AVX512} {
			_ = Use(l)
			got := make([]float32, len(rows)+n)
			Dots(got, left, table, rows)
			Combine(got[len(rows):], c, table, rows)
			if want == nil {
				want = got
			}
			for j := range got {
				if got[j] != want[j] {
					t.Fatalf("n=%d [%d]: AVX2 %v, AVX-512 %v", n, j, want[j], got[j])
				}
			}
		}
	}
}

func TestPrefetchChangesNothing(t *testing.T) {
	table := []float32{1, 2, 3, 4}
	Prefetch(table, []uint32{0, 1}, 2)
	Prefetch(table, nil, 2)
	if table[0] != 1 || table[3] != 4 {
		t.Fatal(table)
	}
}

func TestUseUnknownLevel(t *testing.T) {
	if err := Use("mmx"); err == nil {
		t.Fatal("no error")
	}
}

func benchmarkLevels(b *testing.B, f func(n int)) {
	best := Current()
	defer func() { _ = Use(best) }()
	for _, l := range Levels() {
		_ = Use(l)
		for _, n := range []int{100, 128, 500} {
			b.Run(fmt.Sprintf("%s/n=%d", l, n), func(b *testing.B) {
				for b.Loop() {
					f(n)
				}
			})
		}
	}
}

var (
	benchLeft  = make([]float32, 500)
	benchTable = make([]float32, 6*500)
	benchRows  = []uint32{0, 1, 2, 3, 4, 5}
	benchOut   = make([]float32, 500)
	benchM     = make([]float32, 500)
	benchV     = make([]float32, 500)
)

func BenchmarkDots6(b *testing.B) {
	benchmarkLevels(b, func(n int) { Dots(benchOut[:6], benchLeft[:n], benchTable, benchRows) })
}

func BenchmarkCombine6(b *testing.B) {
	benchmarkLevels(b, func(n int) { Combine(benchOut[:n], benchLeft[:6], benchTable, benchRows) })
}

func BenchmarkLogistic6(b *testing.B) {
	benchmarkLevels(b, func(int) { Logistic(benchOut[:6], benchM[:6], benchLeft[:6]) })
}

func BenchmarkAdam(b *testing.B) {
	s := AdamStep{Beta1: .9, OneMinusBeta1: .1, Beta2: .999, OneMinusBeta2: .001, Keep: .9999, Scale: .002, Epsilon: 1e-8}
	benchmarkLevels(b, func(n int) { Adam(benchOut[:n], benchM[:n], benchV[:n], benchLeft[:n], &s) })
}
