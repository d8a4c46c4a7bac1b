//go:build gpu

package subword_test

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/operation"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/subword"
)

// gradientUnits is that of subword.cuh.
const gradientUnits = 256

// float16 rounds to the nearest float16 number, ties to even.
func float16(x float32) float32 {
	magnitude := math.Abs(float64(x))
	if magnitude >= 65520 {
		return float32(math.Inf(1)) * x
	}
	_, exponent := math.Frexp(magnitude)
	unit := math.Ldexp(1, max(exponent-11, -24)) // of the last digit
	return float32(math.Copysign(math.RoundToEven(magnitude/unit)*unit, float64(x)))
}

// A rounded encoder is an encoder as the kernels have it: what they keep in float16 is
// rounded here, too, and all else is as exact as on the CPU. So a comparison with it shows other differences alone, of
// which there should be hardly any; without it they would hide behind those of 11 bits.
type rounded struct {
	subword.Encoder
	options   *subword.NetworkOptions
	spelt     *subword.Spellings
	structure kernels.Structure
}

// round returns an encoder with the rows of e, rounded.
func round(e subword.Encoder, words []string) (subword.Encoder, error) {
	structure, err := subword.StructureOf(e)
	if err != nil {
		return nil, err
	}
	options, err := subword.OptionsOf(e)
	if err != nil {
		return nil, err
	}
	r := &rounded{Encoder: e, options: options, structure: structure}
	alphabet, err := subword.NewAlphabet(words, r.options.Spelling)
	if err != nil {
		return nil, err
	}
	r.spelt = alphabet.Spell(words, slices.Max(r.options.Widths))
	return r, nil
}

// Rows is Rows of the encoder but for rounding: of the factors of sums and products, and of the gradient of their
// result. The bias is no factor.
func (r *rounded) Rows(parameters gorgonia.Nodes, batch []uint32, threads int) (*gorgonia.Node, error) {
	if batch != nil {
		return nil, fmt.Errorf("rounded rows are those of all words")
	}
	rows, err := r.network(parameters, threads)
	if err != nil {
		return nil, err
	}
	return roundGradient(rows)
}

func (r *rounded) network(parameters gorgonia.Nodes, threads int) (*gorgonia.Node, error) {
	last := len(parameters) - 1
	o := r.options
	symbols, filters, each := parameters[0], append(gorgonia.Nodes{}, parameters[1:last]...), r.structure.Each()
	var err error
	if each > 1 { // factors of tables, but for the biases
		if symbols, err = roundValues(symbols, func(int) float32 { return 1 }); err != nil {
			return nil, err
		}
		for i, f := range filters {
			if filters[i], err = roundValues(f, func(row int) float32 { return min(1, float32(f.Shape()[0]-1-row)) }); err != nil {
				return nil, err
			}
		}
	}
	x, err := subword.Convolve(r.spelt, symbols, filters, subword.Convolution{Widths: o.Widths, Activation: o.Activation}, threads)
	if err == nil && each > 1 {
		x, err = subword.SumEach(x, each, threads)
	}
	if err != nil {
		return nil, err
	}
	d := x.Shape()[1]
	var y *gorgonia.Node
	if o.Raw {
		y, err = roundValues(x, func(int) float32 { return 1 })
	} else {
		y, err = standardizeRounded(x)
	}
	if err != nil {
		return nil, err
	}
	weights, err := roundValues(parameters[last], func(row int) float32 {
		if row == d {
			return 0 // the bias
		}
		return 1
	})
	if err != nil {
		return nil, err
	}
	return subword.Connect(y, weights, threads)
}

// standardizeRounded is subword.Standardize with a rounded result. In the mean of its gradient times the result, the result is
// rounded, too, for products of matrices give that mean.
func standardizeRounded(x *gorgonia.Node) (*gorgonia.Node, error) {
	const leastVariance = 1e-3
	rows, d := x.Shape()[0], x.Shape()[1]
	y, rounded, dx := make([]float32, rows*d), make([]float32, rows*d), make([]float32, rows*d)
	scale := make([]float32, d)
	matrix := func(values []float32) *tensor.Dense {
		return tensor.New(tensor.WithShape(rows, d), tensor.WithBacking(values))
	}
	result, gradient := matrix(rounded), matrix(dx)
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) {
		values := in[0].Float32s()
		for j := range d {
			var sum, squares float64
			for i := j; i < len(values); i += d {
				sum, squares = sum+float64(values[i]), squares+float64(values[i])*float64(values[i])
			}
			mean := sum / float64(rows)
			scale[j] = float32(1 / math.Sqrt(max(squares/float64(rows)-mean*mean, 0)+leastVariance))
			for i := j; i < len(values); i += d {
				y[i] = (values[i] - float32(mean)) * scale[j]
				rounded[i] = float16(y[i])
			}
		}
		return result, nil
	}
	return operation.Apply("rounded standardization", gorgonia.Nodes{x}, rows, d, forward, func(_ []*tensor.Dense, g *tensor.Dense) ([]*tensor.Dense, error) {
		of := g.Float32s()
		for j := range d {
			var sum, products float64
			for i := j; i < len(of); i += d {
				sum, products = sum+float64(of[i]), products+float64(of[i])*float64(rounded[i])
			}
			for i := j; i < len(of); i += d {
				dx[i] = scale[j] * (of[i] - float32(sum/float64(rows)) - y[i]*float32(products/float64(rows)))
			}
		}
		return []*tensor.Dense{gradient}, nil
	})
}

// roundValues rounds the values of a node times the units of their row; of 0 units they stay. The gradient
// passes through.
func roundValues(x *gorgonia.Node, units func(row int) float32) (*gorgonia.Node, error) {
	rows, columns := x.Shape()[0], x.Shape()[1]
	result := tensor.New(tensor.WithShape(rows, columns), tensor.Of(tensor.Float32))
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) {
		to := result.Float32s()
		copy(to, in[0].Float32s())
		for i, v := range to {
			if u := units(i / columns); u > 0 {
				to[i] = float16(v*u) / u
			}
		}
		return result, nil
	}
	return operation.Apply("rounding", gorgonia.Nodes{x}, rows, columns, forward, func(_ []*tensor.Dense, g *tensor.Dense) ([]*tensor.Dense, error) {
		return []*tensor.Dense{g}, nil
	})
}

// roundGradient passes the rows through and rounds their gradient.
func roundGradient(x *gorgonia.Node) (*gorgonia.Node, error) {
	rows, columns := x.Shape()[0], x.Shape()[1]
	result := tensor.New(tensor.WithShape(rows, columns), tensor.Of(tensor.Float32))
	forward := func(in []*tensor.Dense) (*tensor.Dense, error) { return in[0], nil }
	return operation.Apply("rounding of the gradient", gorgonia.Nodes{x}, rows, columns, forward, func(_ []*tensor.Dense, g *tensor.Dense) ([]*tensor.Dense, error) {
		to := result.Float32s()
		for i, v := range g.Float32s() {
			to[i] = float16(v*gradientUnits) / gradientUnits
		}
		return []*tensor.Dense{result}, nil
	})
}
