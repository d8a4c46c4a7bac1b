//go:build gpu

package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/cu"
)

func randomFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// placeSplit sends a matrix in two parts.
func placeSplit(a *allocator, x []float32, rows, columns int) splitMatrix {
	s := a.split("matrix", rows, columns)
	if a.err == nil {
		a.err = sendSplit(s, x, rows, columns)
	}
	return s
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
			high[i*stride+j] = h
			low[i*stride+j] = bfloat(v - math.Float32frombits(uint32(h)<<16))
		}
	}
	return errors.Join(send(s.high, high), send(s.low, low))
}

// receiveSplit adds the parts up.
func receiveSplit(t *testing.T, d *Device, s splitMatrix, rows, columns int) []float32 {
	t.Helper()
	stride := int(s.stride)
	high, low := make([]uint16, rows*stride), make([]uint16, rows*stride)
	if err := d.do(func() error { return errors.Join(receive(high, s.high), receive(low, s.low)) }); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			x = append(x, math.Float32frombits(uint32(high[i*stride+j])<<16)+math.Float32frombits(uint32(low[i*stride+j])<<16))
		}
	}
	return x
}

func received(t *testing.T, d *Device, p cu.DevicePtr, n int) []float32 {
	t.Helper()
	x := make([]float32, n)
	if err := d.do(func() error { return receive(x, p) }); err != nil {
		t.Fatal(err)
	}
	return x
}

// within fails unless got is want to within the tolerance, by the norm of the
// difference.
func within(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	var difference, norm float64
	for i, w := range want {
		x := float64(got[i]) - float64(w)
		difference, norm = difference+x*x, norm+float64(w)*float64(w)
	}
	relative := math.Sqrt(difference / max(norm, 1e-30))
	t.Logf("%s: relative difference %.1e", what, relative)
	if !(difference <= tolerance*tolerance*norm) {
		t.Errorf("%s: relative difference %v of a tensor of norm %v, want at most %v", what, relative, math.Sqrt(norm), tolerance)
	}
}

// Products on tensor cores are those of float64 to 5e-6.
func TestProduct(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(freshSeed(t), 1))
	for _, x := range []struct {
		name                            string
		m, n, k                         int
		transposedA, transposedB, split bool
	}{
		{"rows", 1, 1, 1, false, false, false}, {"rows", 130, 500, 192, false, false, false}, {"rows", 700, 50, 150, false, false, false},
		{"rows", 129, 128, 33, false, false, false}, {"rows", 1000, 300, 65, false, false, false},
		{"features", 1, 1, 1, false, true, false}, {"features", 300, 192, 500, false, true, false}, {"features", 127, 257, 100, false, true, false},
		{"weights", 1, 1, 1, true, false, true}, {"weights", 193, 500, 18498, true, false, true}, {"weights", 151, 50, 1000, true, false, true},
		{"weights", 65, 300, 31, true, false, true}, {"weights", 193, 128, 4097, true, false, true},
	} {
		t.Run(fmt.Sprintf("%s/%dx%dx%d", x.name, x.m, x.n, x.k), func(t *testing.T) {
			a, b := randomFloats(r, x.m*x.k), randomFloats(r, x.k*x.n)
			bias, add := randomFloats(r, x.n), make([]float32, x.m*4*quads(x.n))
			want := make([]float32, x.m*x.n)
			for i := range x.m {
				for j := range x.n {
					add[i*4*quads(x.n)+j] = float32(r.NormFloat64())
					sum := float64(bias[j]) + float64(add[i*4*quads(x.n)+j])
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
			stride := 4 * quads(x.n)
			var got []float32
			err := d.do(func() error {
				al := &allocator{device: d}
				p := al.product(x.name, x.m, x.n, x.k, x.split)
				args := productArgs{
					a: placeSplit(al, a, shapeA[0], shapeA[1]), b: placeSplit(al, b, shapeB[0], shapeB[1]),
					c: al.floats("result", p.chunks*x.m*stride), m: uint32(x.m), n: uint32(x.n), k: uint32(x.k), strideC: uint32(stride), chunk: uint32(p.chunk),
				}
				if !x.split {
					args.bias, args.add = placed(al, "bias", bias), placed(al, "add", add)
				}
				if al.err != nil {
					return al.err
				}
				poison := make([]float32, p.chunks*x.m*stride)
				for i := range poison {
					poison[i] = float32(math.NaN())
				}
				if err := send(args.c, poison); err != nil {
					return err
				}
				if err := launchWith(d, p.kernel, p.blocks, p.threads, p.shared, &args); err != nil {
					return err
				}
				parts := make([]float32, len(poison))
				if err := errors.Join(d.stream.Synchronize(), receive(parts, args.c)); err != nil {
					return err
				}
				for i := range x.m {
					for j := range x.n {
						sum := float32(0)
						if x.split {
							sum = bias[j] + add[i*stride+j]
						}
						for chunk := range p.chunks {
							sum += parts[(chunk*x.m+i)*stride+j]
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
			if x.m*x.n*x.k < 1000 { // nothing to average: one product of two parts is wrong by up to 2^-15
				tolerance = 3.1e-5
			}
			within(t, "product", got, want, tolerance)
		})
	}
}
