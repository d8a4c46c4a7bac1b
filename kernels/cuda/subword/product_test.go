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

// placeSplit sends a matrix in two parts.
func placeSplit(a *allocator, x []float32, rows, columns int, narrow bool) splitMatrix {
	s := a.split("matrix", rows, columns, narrow)
	if a.Err == nil {
		a.Err = sendSplit(s, x, rows, columns)
	}
	return s
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

// float16 is the number of halved.
func float16(x float32) uint16 {
	if x == 0 {
		return 0
	}
	b := math.Float32bits(x)
	return uint16(b>>16&0x8000 | (b>>23&0xff-112)<<10 | b>>13&0x3ff)
}

// bfloat is the upper half of a float, rounded to nearest.
func bfloat(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func sendSplit(s splitMatrix, x []float32, rows, columns int) error {
	stride := int(s.stride)
	high, low := make([]uint16, rows*stride), make([]uint16, rows*stride)
	for i := range rows {
		for j := range columns {
			v := x[i*columns+j]
			h := bfloat(v)
			if s.low == 0 {
				h = float16(v)
			}
			high[i*stride+j] = h
			low[i*stride+j] = bfloat(v - math.Float32frombits(uint32(h)<<16))
		}
	}
	if s.low == 0 {
		return cuda.Send(s.high, high)
	}
	return errors.Join(cuda.Send(s.high, high), cuda.Send(s.low, low))
}

// receiveSplit adds the parts up.
func receiveSplit(s splitMatrix, rows, columns int) ([]float32, error) {
	stride := int(s.stride)
	high, low := make([]uint16, rows*stride), make([]uint16, rows*stride)
	if err := errors.Join(cuda.Receive(high, s.high), cuda.Receive(low, s.low)); err != nil {
		return nil, err
	}
	x := make([]float32, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			x = append(x, math.Float32frombits(uint32(high[i*stride+j])<<16)+math.Float32frombits(uint32(low[i*stride+j])<<16))
		}
	}
	return x, nil
}

// Products on tensor cores equal products in float64 to 5e-6, those of float16 numbers, too.
func TestProduct(t *testing.T) {
	for _, narrow := range []bool{false, true} {
		t.Run(fmt.Sprintf("narrow=%t", narrow), func(t *testing.T) { testProduct(t, narrow) })
	}
}

func testProduct(t *testing.T, narrow bool) {
	d := cudatest.Open(t)
	r := rand.New(rand.NewPCG(cudatest.FreshSeed(t), 1))
	for _, x := range []struct {
		name                            string
		m, n, k                         int
		transposedA, transposedB, split bool
	}{
		{"rows", 1, 1, 1, false, false, false}, {"rows", 130, 500, 192, false, false, false}, {"rows", 700, 50, 150, false, false, false},
		{"rows", 129, 128, 33, false, false, false}, {"rows", 1000, 300, 65, false, false, false},
		{"rows", 9000, 500, 192, false, false, false}, {"rows", 3000, 30, 400, false, false, false}, {"rows", 200, 130, 450, false, false, false},
		{"features", 1, 1, 1, false, true, false}, {"features", 300, 192, 500, false, true, false}, {"features", 127, 257, 100, false, true, false},
		{"features", 1000, 384, 70, false, true, false}, {"features", 290, 150, 33, false, true, false},
		{"weights", 1, 1, 1, true, false, true}, {"weights", 193, 500, 18498, true, false, true}, {"weights", 151, 50, 1000, true, false, true},
		{"weights", 65, 300, 31, true, false, true}, {"weights", 193, 128, 4097, true, false, true},
		{"weights", 385, 130, 700, true, false, true}, {"weights", 200, 129, 100, true, false, true},
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
			a, b := draw(x.m*x.k), draw(x.k*x.n)
			if narrow {
				a, b = halved(a), halved(b)
			}
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
				al := newAllocator(d)
				p := al.product(x.name, x.m, x.n, x.k, x.split, narrow)
				args := productArgs{
					a: placeSplit(al, a, shapeA[0], shapeA[1], narrow), b: placeSplit(al, b, shapeB[0], shapeB[1], narrow),
					c: al.Floats("result", p.chunks*x.m*columns), m: uint32(x.m), n: uint32(x.n), k: uint32(x.k), strideC: uint32(columns), chunk: uint32(p.chunk), unit: 1,
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
			tolerance := 5e-6
			if tiny { // nothing to average: one product of two parts is wrong by up to 2^-15
				tolerance = 3.1e-5
			}
			cudatest.Within(t, "product", got, want, tolerance)
		})
	}
}
