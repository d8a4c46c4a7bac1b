//go:build gpu

package cuda

import (
	"fmt"

	"gorgonia.org/cu"
)

// cnnArgs is Cnn of subword_cnn.cu.
type cnnArgs struct {
	starts, symbols, embeddings, filters            cu.DevicePtr
	tables, features, where, sums, mean, scale      cu.DevicePtr
	y                                               splitMatrix
	parts, common, along                            cu.DevicePtr
	weights                                         splitMatrix
	dy, dparts, dtables, dembeddings, dfilters      cu.DevicePtr
	layer                                           parameter
	step                                            cu.DevicePtr
	moments                                         moments
	v, a, e, f, d, n                                uint32
	widest, widths, chunks, strideD, pieces, blocks uint32
	width, first                                    [MaxCNNWidths]uint32
}

// productArgs is Product of subword_product.cu.
type productArgs struct {
	a, b             splitMatrix
	c, bias, add     cu.DevicePtr
	m, n, k, strideC uint32
	chunk, _         uint32
}

// updatesArgs is Updates of subword_cnn.cu.
type updatesArgs struct {
	step       cu.DevicePtr
	moments    moments
	count, _   uint32
	parameters [1 + MaxCNNWidths]parameter
}

// A cnn is a character CNN on the device.
type cnn struct {
	device   *Device
	args     cnnArgs
	gradient splitMatrix // of the rows
	updates  updatesArgs
	all      map[string]matrix
	products [3]product // of rows, of features, of weights
	kernels  cnnKernels
	scatter  scatterShape
}

type cnnKernels struct {
	tables, convolve, moments, standardize, split, weights, scatter, collect, gradients, update cu.Function
}

// A product is how a product of matrices is launched.
type product struct {
	kernel                  cu.Function
	blocks, threads, shared int
	chunk, chunks           int // of k
}

// A scatterShape is how the gradient of features is brought into tables.
type scatterShape struct {
	blocks, pieces, shared int // shared 0: no room, all blocks add to one table
}

const scatterBytes = 64 << 20 // of the tables of all blocks, at most

func newCNN(d *Device, c CLConfig, o EncoderConfig) (*cnn, error) {
	a := &allocator{device: d}
	x := &cnn{device: d, all: map[string]matrix{}}
	x.shape(c, o)
	g, v, features := &x.args, c.Rows, int(x.args.d)
	size := int(g.widest) * o.Alphabet * features
	g.starts, g.symbols = placed(a, "words", o.Starts), placed(a, "words", o.Symbols)
	x.allocateParameters(a, c, o)
	g.tables, g.dtables = a.floats("tables of symbols", size), a.floats("tables of symbols", size)
	g.features, g.where = a.floats("features", v*features), a.bytes("features", 2*v*features)
	g.sums = a.bytes("sums of features", 16*int(g.blocks)*features)
	g.mean, g.scale = a.floats("moments", features), a.floats("moments", features)
	g.common, g.along = a.floats("moments", features), a.floats("moments", features)
	g.y, g.weights = a.split("features", v, features+1), a.split("weights", features+1, c.Dim)
	x.gradient = a.split("gradient of vectors", v, c.Dim)
	g.dy = a.floats("gradient of features", v*int(g.strideD))
	x.products[0] = a.product("rows", v, c.Dim, features, false)
	x.products[1] = a.product("features", v, features, c.Dim, false)
	x.products[2] = a.product("weights", features+1, c.Dim, v, true)
	g.chunks = uint32(x.products[2].chunks)
	g.parts = a.floats("gradient of weights", int(g.chunks)*(features+1)*4*quads(c.Dim))
	x.shapeScatter(size)
	if g.dparts = g.dtables; x.scatter.shared > 0 {
		g.dparts = a.floats("gradients of tables", x.scatter.pieces*size)
	}
	x.loadKernels(a, clMethods[c.Method])
	return x, a.err
}

// shape fills in what follows from the configuration.
func (x *cnn) shape(c CLConfig, o EncoderConfig) {
	g, d := &x.args, len(o.Widths)*o.Filters
	g.v, g.a, g.e, g.f, g.d, g.n = uint32(c.Rows), uint32(o.Alphabet), uint32(o.CharDim), uint32(o.Filters), uint32(d), uint32(c.Dim)
	g.widths, g.strideD = uint32(len(o.Widths)), uint32(4*quads(d))
	g.blocks = uint32(min(c.Rows, 6*x.device.Multiprocessors))
	g.moments = c.moments()
	first := 0
	for i, w := range o.Widths {
		g.width[i], g.first[i] = uint32(w), uint32(first)
		g.widest = max(g.widest, uint32(w))
		first += (w*o.CharDim + 1) * o.Filters
	}
	for i := len(o.Widths); i < MaxCNNWidths; i++ {
		g.first[i] = uint32(first)
	}
}

// allocateParameters allocates the parameters, those of all widths' filters one
// after the other, and their gradients.
func (x *cnn) allocateParameters(a *allocator, c CLConfig, o EncoderConfig) {
	g := &x.args
	symbols := a.matrix("embeddings", o.Alphabet, o.CharDim, o.CharDim, c.Method)
	weights := a.matrix("weights", int(g.d)+1, c.Dim, 4*quads(c.Dim), c.Method)
	x.all["symbols"], x.all["weights"] = symbols, weights
	rows := 0
	for _, w := range o.Widths {
		rows += w*o.CharDim + 1
	}
	filters := a.matrix("filters", rows, o.Filters, o.Filters, c.Method)
	g.embeddings, g.filters = symbols.value, filters.value
	g.dembeddings, g.dfilters = a.floats("gradient of embeddings", o.Alphabet*o.CharDim), a.floats("gradient of filters", rows*o.Filters)
	g.layer = weights.parameter(a.floats("gradient of weights", (int(g.d)+1)*4*quads(c.Dim)))
	x.updates = updatesArgs{moments: g.moments, count: uint32(1 + len(o.Widths))}
	x.updates.parameters[0] = symbols.parameter(g.dembeddings)
	at := func(p cu.DevicePtr, values int) cu.DevicePtr {
		if p == 0 {
			return 0
		}
		return p + cu.DevicePtr(4*values)
	}
	row := 0
	for i, w := range o.Widths {
		first := row * o.Filters
		m := matrix{
			value: at(filters.value, first), first: at(filters.first, first), second: at(filters.second, first), secondOfRow: at(filters.secondOfRow, row),
			rows: w*o.CharDim + 1, columns: o.Filters, stride: o.Filters,
		}
		x.all[fmt.Sprintf("filters%d.width%d", i, w)] = m
		x.updates.parameters[1+i] = m.parameter(at(g.dfilters, first))
		row += m.rows
	}
}

// product chooses how an (m, n) product over k is launched: by tiles of 128
// columns unless narrower ones leave fewer of them empty. If split is set, chunks
// of k are summed apart, so that there are blocks for the whole device.
func (a *allocator) product(name string, m, n, k int, split bool) product {
	tile := 128
	if (n+63)/64%2 == 1 {
		tile = 64
	}
	p := product{threads: 2 * tile, shared: 3 * 2 * 64 * (128 + tile), chunks: 1}
	p.blocks = (m + 127) / 128 * ((n + tile - 1) / tile)
	p.chunk = (k + 31) / 32 * 32
	if split {
		want := max(1, 2*a.device.Multiprocessors/p.blocks)
		p.chunk = ((k+want-1)/want + 31) / 32 * 32
		p.chunks = (k + p.chunk - 1) / p.chunk
		p.blocks *= p.chunks
	}
	p.kernel = a.function("subword_product", fmt.Sprintf("product_%s_%d", name, tile), p.shared)
	return p
}

// shapeScatter gives every warp of 32 features tables of its own in shared
// memory, of size values for all features, if there is room. A dozen warps keep a
// multiprocessor busy.
func (x *cnn) shapeScatter(size int) {
	g, d := &x.args, x.device
	groups := (int(g.d) + 31) / 32
	pieces := max(1, min(12*d.Multiprocessors/groups, int(g.v)/32, scatterBytes/(4*size)))
	shared := 128 * int(g.widest) * int(g.a)
	if shared > d.SharedOfBlock {
		shared, pieces = 0, max(1, min(12*d.Multiprocessors/groups, int(g.v)/32))
	}
	x.scatter = scatterShape{blocks: groups * pieces, pieces: pieces, shared: shared}
	g.pieces = uint32(pieces)
}

func (x *cnn) loadKernels(a *allocator, method string) {
	get := func(name string) cu.Function { return a.function("subword_cnn", "cnn_"+name, 0) }
	k := &x.kernels
	k.tables, k.convolve, k.moments, k.standardize, k.split = get("tables"), get("convolve"), get("moments"), get("standardize"), get("split")
	k.weights, k.collect, k.gradients, k.update = get("weights_"+method), get("collect"), get("gradients"), get("update_"+method)
	if k.scatter = get("scatter_atomic"); x.scatter.shared > 0 {
		k.scatter = a.function("subword_cnn", "cnn_scatter", x.scatter.shared)
	}
}

func (x *cnn) matrices() map[string]matrix { return x.all }

func (x *cnn) target(a *gradientArgs) { a.split = x.gradient }

// sent splits the weights, which products take in two parts.
func (x *cnn) sent() error {
	return x.launch(x.kernels.split, ((int(x.args.d)+1)*int(x.args.weights.stride)/2+255)/256, 256, 0)
}

func (x *cnn) launch(kernel cu.Function, blocks, threads, shared int) error {
	return launchWith(x.device, kernel, blocks, threads, shared, &x.args)
}

// compose writes rows = y weights + bias + words.
func (x *cnn) compose(rows, words cu.DevicePtr) error {
	g, k := &x.args, &x.kernels
	size := int(g.widest * g.a * g.d)
	if err := x.launch(k.tables, (size+127)/128, 128, 0); err != nil {
		return err
	}
	if err := x.launch(k.convolve, int(g.blocks), min(1024, (int(g.d)+31)/32*32), 0); err != nil {
		return err
	}
	if err := x.launch(k.moments, int(g.d), 128, 0); err != nil {
		return err
	}
	if err := x.launch(k.standardize, (int(g.v)*int(g.y.stride)/4+255)/256, 256, 0); err != nil {
		return err
	}
	return x.multiply(0, productArgs{
		a: g.y, b: g.weights, c: rows, add: words, bias: g.layer.value + cu.DevicePtr(4*g.d*g.layer.stride),
		m: g.v, n: g.n, k: g.d, strideC: g.layer.stride,
	})
}

func (x *cnn) multiply(number int, a productArgs) error {
	p := x.products[number]
	a.chunk = uint32(p.chunk)
	return launchWith(x.device, p.kernel, p.blocks, p.threads, p.shared, &a)
}

// update trains the parameters. The gradient of y is made before the weights
// change; see updateWeights for what that of the features takes.
func (x *cnn) update(step cu.DevicePtr) error {
	g, k := &x.args, &x.kernels
	g.step, x.updates.step = step, step
	err := x.multiply(1, productArgs{a: x.gradient, b: g.weights, c: g.dy, m: g.v, n: g.d, k: g.n, strideC: g.strideD})
	if err != nil {
		return err
	}
	err = x.multiply(2, productArgs{a: g.y, b: x.gradient, c: g.parts, m: g.d + 1, n: g.n, k: g.v, strideC: g.layer.stride})
	if err != nil {
		return err
	}
	if err := x.launch(k.weights, int(g.d)+1, 512, 0); err != nil {
		return err
	}
	if err := x.scatterGradient(); err != nil {
		return err
	}
	values, filters := int(g.a*g.e), int(g.first[g.widths-1]+(g.width[g.widths-1]*g.e+1)*g.f)
	if err := x.launch(k.gradients, (values+7)/8+(filters+255)/256, 256, 0); err != nil {
		return err
	}
	rows := 0
	for i := range x.updates.parameters {
		rows += int(x.updates.parameters[i].rows)
	}
	return launchWith(x.device, k.update, rows, 64, 0, &x.updates)
}

// scatterGradient brings the gradient of the features into dtables.
func (x *cnn) scatterGradient() error {
	g, s, size := &x.args, x.scatter, int(x.args.widest*x.args.a*x.args.d)
	if s.shared > 0 {
		if err := x.launch(x.kernels.scatter, s.blocks, 32, s.shared); err != nil {
			return err
		}
		return x.launch(x.kernels.collect, (size+31)/32, 256, 0)
	}
	if err := cu.MemsetD32Async(g.dtables, 0, int64(size), x.device.stream); err != nil {
		return err
	}
	return x.launch(x.kernels.scatter, s.blocks, 32, 0)
}
