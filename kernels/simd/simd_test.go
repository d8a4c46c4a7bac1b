package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
				sum, all := guarded(n)
				random(r, sum)
				before := slices.Clone(sum)
				next := make([]uint32, r.IntN(2*count+2))
				for k := range next {
					next[k] = uint32(r.IntN(tableRows))
				}
				AddCombination(sum, coefficients, table, rows, next)
				checkGuards(t, "AddCombination", n, all)
				for j := range out {
					var want, size float64
					for k, row := range rows {
						p := float64(coefficients[k]) * float64(table[int(row)*n+j])
						want, size = want+p, size+math.Abs(p)
					}
					if !near(float64(out[j]), want, size) {
						t.Fatalf("Combine n=%d count=%d j=%d: %v, want %v", n, count, j, out[j], want)
					}
					x := float64(before[j])
					if !near(float64(sum[j]), x+want, math.Abs(x)+size) {
						t.Fatalf("AddCombination n=%d count=%d j=%d: %v, want %v", n, count, j, sum[j], x+want)
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

// randomSums lists sums over panels of 9 rows, in a table of 3.
func randomSums(r *rand.Rand) (sums []ProductSum) {
	for range 1 + r.IntN(5) {
		s := ProductSum{Out: r.Uint32N(3), Step: r.Uint32N(2), Rows: 1 + r.Uint32N(9), Add: r.Uint32N(2)}
		s.A, s.B, s.Weight = r.Uint32N(10-s.Rows), r.Uint32N(10-s.Rows), r.Uint32N(10-s.Rows)
		sums = append(sums, s)
	}
	return sums
}

func TestSumProducts(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		a, b := &Panels{}, &Panels{}
		rowsA, rowsB := []uint32{3, 1, 4, 1, 5, 0, 2, 6, 5}, []uint32{0, 1, 2, 3, 4, 5, 6, 5, 4}
		for _, n := range sizes {
			x, weights := random(r, make([]float32, 7*n)), random(r, make([]float32, 9))
			a.Gather(x, n, rowsA)
			b.Gather(x, n, rowsB)
			table, all := guarded(3 * n)
			clear(table)
			sums, want, size := randomSums(r), make([]float64, 3*n), make([]float64, 3*n)
			for _, s := range sums {
				for at := int(s.Out) * n; at < int(s.Out+1)*n; at++ {
					want[at], size[at] = float64(s.Add)*want[at], float64(s.Add)*size[at]
					for i := range s.Rows {
						j := at % n
						p := float64(x[int(rowsA[s.A+i])*n+j]) * float64(x[int(rowsB[s.B+i])*n+j]) * float64(weights[s.Weight+s.Step*i])
						want[at], size[at] = want[at]+p, size[at]+math.Abs(p)
					}
				}
			}
			SumProducts(table, n, sums, weights, a, b)
			checkGuards(t, "SumProducts", 3*n, all)
			for i, got := range table {
				if !near(float64(got), want[i], size[i]) {
					t.Fatalf("n=%d, %v: value %d is %v, want %v", n, sums, i, got, want[i])
				}
			}
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
			for _, src := range [][]float32{w0, m0, v0, w0, m0, w0, w0, m0, v0, w0, v0} {
				x, all := guarded(n)
				copy(x, src)
				got, bands = append(got, x), append(bands, all)
			}
			Adam(got[0], got[1], got[2], g, &step)
			Momentum(got[3], got[4], g, .9, .999, .01)
			SGD(got[5], g, .999, .01)
			Exchange(got[6], got[7], got[8])
			Scaled(got[9], got[10], g, &ScaledStep{Decay: .99, Fresh: .01, Keep: .9999, Rate: .002, Epsilon: 1e-8})
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

// One update of Adam gives the numbers of its formula in float64.
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

// So does one scaled update.
func TestScaledFormula(t *testing.T) {
	w, v := []float32{1}, []float32{.25}
	Scaled(w, v, []float32{2}, &ScaledStep{Decay: .5, Fresh: .25, Keep: .5, Rate: .1, Epsilon: .01})
	wantV := .5*.25 + .25*4
	wantW := .5 - .1*2/(math.Sqrt(wantV)+.01)
	if !near(float64(v[0]), wantV, 1) || !near(float64(w[0]), wantW, 1) {
		t.Fatal(w, v, wantW, wantV)
	}
}

func TestExchangeFormula(t *testing.T) {
	shared, own, before := []float32{1, 2}, []float32{5, 6}, []float32{4, 8}
	Exchange(shared, own, before)
	for _, got := range [][]float32{shared, own, before} {
		if !slices.Equal(got, []float32{2, 0}) {
			t.Fatal(shared, own, before)
		}
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
		all := []uint32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9}
		rows := all[:1+r.IntN(len(all))]
		c := random(r, make([]float32, len(all)))
		sum := random(r, make([]float32, n))
		panels, sums := &Panels{}, []ProductSum{{Weight: 1, Step: 1, A: 3, B: 4, Rows: 9}, {A: 1, Rows: 2, Add: 1}}
		panels.Gather(table, n, all)
		var want []float32
		for _, l := range []Level{AVX2, AVX512} {
			_ = Use(l)
			got := append(make([]float32, len(rows)+n), append(sum, sum...)...)
			Dots(got, left, table, rows)
			Combine(got[len(rows):][:n], c, table, rows)
			AddCombination(got[len(rows)+n:][:n], c, table, rows, all)
			SumProducts(got[len(rows)+2*n:], n, sums, c, panels, panels)
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

// The generator gives its authors' known answers, and the same bits from any
// counter on and at any level.
func TestPhilox(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for _, known := range []struct {
			seed, stream, counter uint64
			want                  [4]uint32
		}{
			{0, 0, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
			{math.MaxUint64, math.MaxUint64, math.MaxUint64, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
			{0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
		} {
			var got [4]uint32
			Philox(got[:], known.seed, known.stream, known.counter)
			if got != known.want {
				t.Errorf("%x %x %x: %x, want %x", known.seed, known.stream, known.counter, got, known.want)
			}
		}
		seed, stream := r.Uint64(), r.Uint64()
		for _, counter := range []uint64{0, r.Uint64(), 1<<32 - 9, 1<<32 - 8, 1<<32 - 1, math.MaxUint64 - 3} {
			for _, n := range []int{0, 1, 3, 4, 5, 8, 9, 31, 32, 33, 40, 41, 64, 99, 160} {
				all := make([]uint32, n+2)
				all[0], all[n+1] = 7, 7
				got := all[1 : n+1]
				Philox(got, seed, stream, counter)
				if all[0] != 7 || all[n+1] != 7 {
					t.Fatalf("%d numbers: wrote outside", n)
				}
				for i := range got {
					var four [4]uint32
					philoxGo(four[:], seed, stream, counter+uint64(i/4))
					if got[i] != four[i%4] {
						t.Fatalf("%d numbers from counter %d: number %d is %x, want %x", n, counter, i, got[i], four[i%4])
					}
				}
			}
		}
	})
}

func TestUseUnknownLevel(t *testing.T) {
	if err := Use("mmx"); err == nil {
		t.Fatal("no error")
	}
}

// Benchmarks go round a few rows in the first-level cache: in training, a kernel
// does not wait for its own last stores.
const benchRowCount = 8

type benchData struct {
	n           int
	row         int
	w, m, v     []float32 // benchRowCount x n
	left, table []float32 // n; 6 x n
	six         []float32
}

var benchRows = []uint32{0, 1, 2, 3, 4, 5}

func (d *benchData) rows() (w, m, v []float32) {
	d.row = (d.row + 1) % benchRowCount
	from, to := d.row*d.n, (d.row+1)*d.n
	return d.w[from:to], d.m[from:to], d.v[from:to]
}

func benchmarkLevels(b *testing.B, f func(d *benchData)) {
	best := Current()
	defer func() { _ = Use(best) }()
	r := rand.New(rand.NewPCG(1, 1))
	for _, l := range Levels() {
		_ = Use(l)
		for _, n := range []int{100, 128, 300, 500} {
			d := &benchData{n: n}
			for _, x := range []struct {
				to *[]float32
				n  int
			}{{&d.w, benchRowCount * n}, {&d.m, benchRowCount * n}, {&d.v, benchRowCount * n}, {&d.left, n}, {&d.table, 6 * n}, {&d.six, 6}} {
				*x.to = random(r, make([]float32, x.n))
			}
			for j, x := range d.v { // second moments
				d.v[j] = x * x
			}
			b.Run(fmt.Sprintf("%s/n=%d", l, n), func(b *testing.B) {
				for b.Loop() {
					f(d)
				}
			})
		}
	}
}

var benchStep = AdamStep{Beta1: .9, OneMinusBeta1: .1, Beta2: .999, OneMinusBeta2: .001, Keep: .9999, Scale: .002, Epsilon: 1e-8}

func BenchmarkDots6(b *testing.B) {
	benchmarkLevels(b, func(d *benchData) { w, _, _ := d.rows(); Dots(d.six, w, d.table, benchRows) })
}

func BenchmarkCombine6(b *testing.B) {
	benchmarkLevels(b, func(d *benchData) { w, _, _ := d.rows(); Combine(w, d.six, d.table, benchRows) })
}

func BenchmarkAdam(b *testing.B) {
	benchmarkLevels(b, func(d *benchData) { w, m, v := d.rows(); Adam(w, m, v, d.left, &benchStep) })
}

func BenchmarkMomentum(b *testing.B) {
	benchmarkLevels(b, func(d *benchData) { w, m, _ := d.rows(); Momentum(w, m, d.left, .9, .99, .01) })
}

func BenchmarkSGD(b *testing.B) {
	benchmarkLevels(b, func(d *benchData) { w, _, _ := d.rows(); SGD(w, d.left, .99, .01) })
}

func BenchmarkPhilox(b *testing.B) {
	bits := make([]uint32, 640)
	for _, l := range Levels() {
		b.Run(string(l), func(b *testing.B) {
			best := Current()
			defer func() { _ = Use(best) }()
			_ = Use(l)
			for b.Loop() {
				Philox(bits, 1, 2, 3)
			}
		})
	}
}
