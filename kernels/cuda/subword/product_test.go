//go:build gpu

package subword

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

func placeNarrow(a *allocator, x []float32, rows, columns int) narrowMatrix {
	m := a.narrow("matrix", rows, columns)
	if a.Err == nil {
		a.Err = sendNarrow(m, x, rows, columns)
	}
	return m
}

// halved cuts values off to float16 numbers, with 11 bits; it has zeros in place of small ones.
func halved(x []float32) []float32 {
	for i, v := range x {
		if x[i] = math.Float32frombits(math.Float32bits(v) &^ 0x1fff); math.Abs(float64(v)) < 1./(1<<14) {
			x[i] = 0
		}
	}
	return x
}

// float16 rounds to the nearest float16 number, or to zero.
func float16(x float32) uint16 {
	if math.Abs(float64(x)) < 1./(1<<14) {
		return 0
	}
	b := math.Float32bits(x)
	b += 0xfff + b>>13&1
	return uint16(b>>16&0x8000 | (b>>23&0xff-112)<<10 | b>>13&0x3ff)
}

// ofFloat16 is the way back.
func ofFloat16(h uint16) float32 {
	size := math.Ldexp(float64(h&0x3ff), -24) // of a small number
	if exponent := int(h >> 10 & 31); exponent > 0 {
		size = math.Ldexp(float64(1024+uint32(h&0x3ff)), exponent-25)
	}
	if h>>15 == 1 {
		size = -size
	}
	return float32(size)
}

// scaled returns values times a factor.
func scaled(values []float32, factor float32) []float32 {
	to := make([]float32, len(values))
	for i, x := range values {
		to[i] = factor * x
	}
	return to
}

func sendNarrow(m narrowMatrix, x []float32, rows, columns int) error {
	stride := int(m.Stride)
	values := make([]uint16, rows*stride)
	for i := range rows {
		for j := range columns {
			values[i*stride+j] = float16(x[i*columns+j])
		}
	}
	return cuda.Send(m.Values, values)
}

func receiveNarrow(m narrowMatrix, rows, columns int) ([]float32, error) {
	stride := int(m.Stride)
	values := make([]uint16, rows*stride)
	if err := cuda.Receive(values, m.Values); err != nil {
		return nil, err
	}
	x := make([]float32, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			x = append(x, ofFloat16(values[i*stride+j]))
		}
	}
	return x, nil
}

// Products on tensor cores equal products in float64 to 5e-6.
func TestProduct(t *testing.T) {
	d := cudatest.Open(t)
	r := rand.New(rand.NewPCG(cudatest.FreshSeed(t), 1))
	for _, x := range []struct {
		name                     string
		m, n, k                  int
		transposedA, transposedB bool
		sums                     int
	}{
		{"rows", 1, 1, 1, false, false, 0}, {"rows", 130, 500, 192, false, false, 0}, {"rows", 700, 50, 150, false, false, 0},
		{"rows", 129, 128, 33, false, false, 0}, {"rows", 1000, 300, 65, false, false, 0},
		{"rows", 9000, 500, 192, false, false, 0}, {"rows", 3000, 30, 400, false, false, 0}, {"rows", 200, 130, 450, false, false, 0},
		{"features", 1, 1, 1, false, true, 0}, {"features", 300, 192, 500, false, true, 0}, {"features", 127, 257, 100, false, true, 0},
		{"features", 1000, 384, 70, false, true, 0}, {"features", 290, 150, 33, false, true, 0},
		{"weights", 1, 1, 1, true, false, classes}, {"weights", 193, 500, 18498, true, false, classes}, {"weights", 151, 50, 1000, true, false, 1},
		{"weights", 65, 300, 31, true, false, classes}, {"weights", 193, 128, 4097, true, false, classes},
		{"weights", 385, 130, 700, true, false, 1}, {"weights", 200, 129, 100, true, false, classes},
	} {
		t.Run(fmt.Sprintf("%s/%dx%dx%d", x.name, x.m, x.n, x.k), func(t *testing.T) {
			tiny := x.m*x.n*x.k < 1000
			draw := func(n int) []float32 {
				values := cudatest.Floats(r, n)
				for i, v := range values {
					if tiny && v < 0 {
						values[i] = -v // so that the bias leaves all of a product
					}
				}
				return values
			}
			a, b := halved(draw(x.m*x.k)), halved(draw(x.k*x.n))
			bias, own, add := draw(x.n), draw(x.m*x.n), make([]float32, x.m*stride(x.n))
			want := make([]float32, x.m*x.n)
			for i := range x.m {
				for j := range x.n {
					add[i*stride(x.n)+j] = own[i*x.n+j]
					sum := float64(bias[j]) + float64(add[i*stride(x.n)+j])
					for l := range x.k {
						sum += float64(a[i*x.k+l]) * float64(b[l*x.n+j])
					}
					want[i*x.n+j] = float32(sum)
				}
			}
			flip := func(x []float32, rows, columns int) []float32 {
				y := make([]float32, len(x))
				for i := range rows {
					for j := range columns {
						y[j*rows+i] = x[i*columns+j]
					}
				}
				return y
			}
			shapeA, shapeB := [2]int{x.m, x.k}, [2]int{x.k, x.n}
			if x.transposedA {
				a, shapeA = flip(a, x.m, x.k), [2]int{x.k, x.m}
			}
			if x.transposedB {
				b, shapeB = flip(b, x.k, x.n), [2]int{x.n, x.k}
			}
			columns := stride(x.n)
			var got []float32
			err := d.Do(func() error {
				al := newAllocator(d, cuda.Optimizer{})
				sums := max(x.sums, 1)
				p := al.product(x.name, x.m, x.n, (x.k+sums-1)/sums, x.sums)
				args := productArgs{
					a: placeNarrow(al, a, shapeA[0], shapeA[1]), b: placeNarrow(al, b, shapeB[0], shapeB[1]),
					c: al.Floats("result", p.chunks*x.m*columns), m: uint32(x.m), n: uint32(x.n), k: uint32(x.k), strideC: uint32(columns), chunk: uint32(p.chunk), unit: 1, sums: p.sums, lines: p.lines,
				}
				adds := x.name == "rows" // no other product of an encoder does
				if adds {
					args.bias, args.add = placed(al, "bias", bias), placed(al, "add", add)
				}
				if al.Err != nil {
					return al.Err
				}
				poison := make([]float32, p.chunks*x.m*columns)
				for i := range poison {
					poison[i] = float32(math.NaN())
				}
				if err := cuda.Send(args.c, poison); err != nil {
					return err
				}
				if err := cuda.Launch(d, p.kernel, p.grid, &args); err != nil {
					return err
				}
				parts := make([]float32, len(poison))
				if err := errors.Join(d.Stream().Synchronize(), cuda.Receive(parts, args.c)); err != nil {
					return err
				}
				for i := range x.m {
					for j := range x.n {
						sum := float32(0)
						if !adds {
							sum = bias[j] + add[i*columns+j]
						}
						for chunk := range p.chunks {
							sum += parts[(chunk*x.m+i)*columns+j]
						}
						got = append(got, sum)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			cudatest.Within(t, "product", got, want, 5e-6)
		})
	}
}
