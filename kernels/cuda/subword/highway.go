//go:build gpu

package subword

import (
	"fmt"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// highwayArgs is Highway of highway.cu.
type highwayArgs struct {
	cnn                         cnnArgs
	x, weights, gradient        narrowMatrix
	in, layer, out              cu.DevicePtr
	passed, through, parts      cu.DevicePtr
	parameter                   parameter
	rows, strideL, chunks, last uint32
}

// highways are the highway layers of a CNN.
type highways struct {
	device   *cuda.Device
	layers   []highwayArgs
	weights  []matrix
	products [3]product // of layers, of their features' gradient, of their weights' gradient
	after    cnnArgs    // those of kernels to which passed is the gradient of y
	updates  updatesArgs
	update   cu.Function

	narrow, forward, sum, backward, collect, finish cu.Function
}

// newHighways allocates layers between the features and their sums over spellings. The layers share their temporary buffers.
func newHighways(a *allocator, e Structure, g *cnnArgs) *highways {
	x := &highways{device: a.Device}
	d, rows := int(g.d), int(g.v*g.spellings)
	l := highwayArgs{rows: uint32(rows), strideL: uint32(stride(2 * d)), in: g.features}
	l.gradient = a.narrow("gradient of highway layers", rows, 2*d)
	l.passed, l.through = a.Floats("gradient of features", rows*int(g.strideD)), a.Floats("gradient of features", rows*int(g.strideD))
	x.products[0] = a.product("rows", rows, 2*d, d, false)
	x.products[1] = a.product("features", rows, d, 2*d, false)
	x.products[2] = a.product("weights", d+1, 2*d, rows, true)
	l.chunks = uint32(x.products[2].chunks)
	l.parts = a.Floats("gradient of highway layers", int(l.chunks)*(d+1)*int(l.strideL))
	for i := range e.Highway {
		l.x, l.weights = a.narrow("features", rows, d+1), a.narrow("highway layers", d+1, 2*d)
		l.layer = a.Floats("highway layers", rows*int(l.strideL))
		if l.out = g.summed; i < e.Highway-1 || e.Each() > 1 {
			l.out = a.Floats("features", rows*d)
		}
		l.last = number(i == e.Highway-1)
		m := a.matrix("highway layers", d+1, 2*d, int(l.strideL))
		l.parameter = m.parameter(a.Floats("gradient of highway layers", (d+1)*int(l.strideL)), e.LayerRate(d))
		x.layers, x.weights = append(x.layers, l), append(x.weights, m)
		l.in = l.out
	}
	x.after = x.plain(a, g)
	get := func(name string) cu.Function { return a.Function("subword/highway", "highway_"+name, 0) }
	x.narrow, x.forward, x.sum = get("narrow"), get("forward"), get("sum")
	x.backward, x.collect, x.finish = get("backward"), get("collect"), get("finish")
	x.update = a.Function("subword/cnn", "cnn_update_"+a.optimizer.Kernels, 0)
	x.updates = updatesArgs{decays: g.decays, count: 1}
	return x
}

// plain returns the arguments of kernels that bring the gradient of y into tables: of words that are spellings, whose features are
// y as they are.
func (x *highways) plain(a *allocator, g *cnnArgs) cnnArgs {
	c, d, l := *g, int(g.d), &x.layers[0]
	c.v, c.spellings, c.summed, c.dy = l.rows, 1, c.features, l.passed
	zeros := a.Floats("means of features", d)
	c.mean, c.meanGradient, c.meanProduct = zeros, zeros, zeros
	c.scale = placed(a, "scales of features", slices.Repeat([]float32{1}, d))
	return c
}

func (x *highways) launch(kernel cu.Function, l *highwayArgs, blocks int) error {
	return cuda.Launch(x.device, kernel, cuda.Grid{Blocks: blocks, Threads: 256}, l)
}

// compose puts the features of all spellings through the layers, and sums them. sum is how the convolution is launched, which has
// as many sums of features.
func (x *highways) compose(g *cnnArgs, sum cuda.Grid) error {
	for i := range x.layers {
		l := &x.layers[i]
		l.cnn = *g
		weights, rows := groupsOf((g.d+1)*uint32(l.weights.stride)/4, 256), int(l.rows)
		bias := l.parameter.value + cu.DevicePtr(4*g.d*l.strideL)
		err := x.launch(x.narrow, l, weights+rows*groupsOf(uint32(l.x.stride)/4, 256))
		if err == nil {
			err = x.products[0].launch(x.device, productArgs{
				a: l.x, b: l.weights, c: l.layer, bias: bias, m: l.rows, n: 2 * g.d, k: g.d, strideC: l.strideL, unit: 1,
			})
		}
		if err == nil {
			err = x.launch(x.forward, l, rows*groupsOf(g.d, 256))
		}
		if err != nil {
			return err
		}
	}
	return cuda.Launch(x.device, x.sum, sum, &x.layers[len(x.layers)-1])
}

// gradient trains the layers by the gradient of y. It returns the arguments with which the gradient goes on.
func (x *highways) gradient(g *cnnArgs, step cu.DevicePtr) (*cnnArgs, error) {
	const unit = 1. / gradientUnits
	x.updates.step = step
	for i := len(x.layers) - 1; i >= 0; i-- {
		l := &x.layers[i]
		l.cnn, x.updates.parameters[0] = *g, l.parameter
		err := x.launch(x.backward, l, int(l.rows)*groupsOf(g.d, 256))
		if err == nil { // before the weights change
			err = x.products[1].launch(x.device, productArgs{a: l.gradient, b: l.weights, c: l.through, m: l.rows, n: g.d, k: 2 * g.d, strideC: g.strideD, unit: unit})
		}
		if err == nil {
			err = x.products[2].launch(x.device, productArgs{a: l.x, b: l.gradient, c: l.parts, m: g.d + 1, n: 2 * g.d, k: l.rows, strideC: l.strideL, unit: unit})
		}
		if err == nil {
			err = x.launch(x.collect, l, int(g.d+1)*groupsOf(2*g.d, 256))
		}
		if err == nil {
			err = cuda.Launch(x.device, x.update, cuda.Grid{Blocks: int(g.d + 1), Threads: 64}, &x.updates)
		}
		if err != nil {
			return nil, err
		}
	}
	first := &x.layers[0]
	return &x.after, x.launch(x.finish, first, int(first.rows)*groupsOf(g.d, 256))
}

// addTo adds the weights of the layers to parameters, by their names.
func (x *highways) addTo(all map[string]matrix) {
	for i, m := range x.weights {
		all[fmt.Sprintf("highway%d", i)] = m
	}
}
