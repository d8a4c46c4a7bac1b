//go:build gpu

package subword

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

// cnnArgs is Cnn of cnn.cu.
type cnnArgs struct {
	starts, symbols, packedWords, places            cu.DevicePtr
	embeddings, filters                             cu.DevicePtr
	tables, features, summed                        cu.DevicePtr
	where, sums, mean, scale                        cu.DevicePtr
	y                                               narrowMatrix
	parts, meanGradient, meanProduct                cu.DevicePtr
	weights                                         narrowMatrix
	dy, dparts, dtables, dembeddings, dfilters      cu.DevicePtr
	layer                                           parameter
	together                                        cu.DevicePtr
	step                                            cu.DevicePtr
	decays                                          cuda.Decays
	v, a, e, columns, d, n                          uint32
	all, gpu, gpus                                  uint32
	widest, widths, chunks, strideD, pieces, blocks uint32
	raw, activation, packed                         uint32
	apart, fixed, sparse                            uint32
	kept                                            uint32
	spellings, pitch, lists                         uint32
	width, count, first, column                     [MaxWidths]uint32
	begin, offset                                   [MaxWidths]uint32
	groups                                          [maxGroups]group
}

const maxGroups = 24

// A group is Group of cnn.cuh.
type group struct{ width, quad, quads, begin, end uint32 }

// updatesArgs is Updates of cnn.cu.
type updatesArgs struct {
	step       cu.DevicePtr
	decays     cuda.Decays
	count      uint32
	sparse     uint32
	parameters [1 + MaxWidths]parameter
}

type cnn struct {
	device   *cuda.Device
	args     cnnArgs
	ofRows   narrowMatrix // their gradient, times units
	units    float32
	updates  updatesArgs
	all      map[string]matrix
	products [3]product // of rows, of features, of weights
	kernels  cnnKernels
	convolve cuda.Grid
	scatter  scatterShape
	lists    *lists // of a large alphabet
	steps    *cl.Kernels
	early    bool // kernels may begin while those before them end
}

type cnnKernels struct {
	tables, convolve, means, standardize, weights, scatter, collect, gradients, update cu.Function
}

// A scatterShape is how the gradient of features is brought into tables.
type scatterShape struct {
	blocks, warps, pieces, shared int
	line                          int // values of a piece
}

const (
	scatterBytes = 64 << 20    // of the tables of all thread blocks, at most
	scatterAhead = 8 * classes // words that quads.cu reads behind the last one, and does not use
	classes      = 8           // that of cnn.cuh
)

func newCNN(a *allocator, c cl.Options, e Structure) (*cnn, error) {
	x := &cnn{device: a.Device, all: map[string]matrix{}, steps: a.steps, units: gradientUnits}
	large := x.shape(a, c, e)
	if large && x.args.apart > 0 {
		return nil, errors.New("tables of symbols do not fit into shared memory: such a CNN trains on one GPU, and in mode cl alone")
	}
	e = e.every(a.number, a.of)
	g, v, features := &x.args, int(x.args.v), int(x.args.d)
	spelt := (v*e.Each() + scatterAhead) * features
	g.starts, g.symbols = placed(a, "words", e.Starts), placed(a, "words", e.Symbols)
	if g.packed > 0 {
		words, places := e.packed()
		g.packedWords, g.places = placed(a, "words", words), placed(a, "words", places)
	}
	x.allocateParameters(a, c, e)
	g.features = a.Floats("features", spelt)
	if g.summed = g.features; e.Each() > 1 {
		g.summed = a.Floats("features", v*features)
	}
	g.where = a.Bytes("features", (2+2*int(g.packed))*spelt)
	if g.packed > 0 {
		g.together = a.Bytes("meetings", 8)
	}
	g.sums = a.Bytes("sums of features", 16*int(g.blocks)*features)
	g.mean, g.scale = a.Floats("means of features", features), a.Floats("scales of features", features)
	g.meanGradient, g.meanProduct = a.Floats("means of gradients", features), a.Floats("means of gradients", features)
	g.y, g.weights = a.narrow("features", v+scatterAhead, features+1), a.narrow("weights", features+1, c.Dim)
	x.ofRows = a.narrow("gradient of vectors", v, c.Dim)
	g.dy = a.Floats("gradient of features", (v+scatterAhead)*int(g.strideD))
	x.products[0] = a.product("rows", v, c.Dim, features, 0)
	x.products[1] = a.product("features", v, features, c.Dim, 0)
	x.products[2] = a.product("weights", features+1, c.Dim, (c.Rows+classes-1)/classes, classes)
	x.early = a.of == 1 && !a.batches && a.Device.Overlaps()
	g.chunks = uint32(x.products[2].chunks)
	g.parts = a.Floats("gradient of weights", int(g.chunks)*(features+1)*stride(c.Dim))
	if large {
		x.lists = newLists(a, e, g)
	} else {
		size := int(g.widest) * e.Alphabet * int(g.columns)
		x.shapeScatter(size)
		g.tables, g.dtables, g.dparts = a.Floats("tables of symbols", size), a.Floats("tables of symbols", size), a.Floats("gradients of tables", x.scatter.pieces*x.scatter.line)
	}
	x.loadKernels(a)
	if a.Err != nil {
		return nil, a.Err
	}
	return x, x.standardize() // the columns behind the features
}

// shape fills in the sizes that follow from the options, and returns whether the alphabet is a large one.
func (x *cnn) shape(a *allocator, c cl.Options, e Structure) (large bool) {
	g, d := &x.args, e.Features()
	g.v, g.a, g.e, g.columns, g.d, g.n = uint32(a.own(c.Rows)), uint32(e.Alphabet), uint32(e.CharDim), uint32(d), uint32(d), uint32(c.Dim)
	g.all, g.gpu, g.gpus = uint32(c.Rows), uint32(a.number), uint32(a.of)
	g.raw, g.apart = number(e.Raw), number(a.of > 1 || a.batches)
	g.activation = uint32(max(slices.Index(Activations, e.Activation), 0))
	g.widths, g.strideD = uint32(len(e.Widths)), uint32(stride(d))
	g.decays = a.optimizer.Decays()
	g.spellings, g.pitch = uint32(e.Each()), g.columns
	if large = e.HasLists(x.device.SharedOfBlock); large {
		g.pitch, g.lists = uint32(stride(e.TableColumns())), 1
	}
	first, column, begin := 0, 0, 0
	for i, w := range e.Widths {
		f := e.Filters[i]
		g.width[i], g.count[i], g.first[i], g.column[i] = uint32(w), uint32(f), uint32(first), uint32(column)
		if g.begin[i], g.offset[i] = uint32(column), g.a*g.columns; large {
			g.begin[i], g.offset[i] = uint32(begin), uint32(f)
		}
		g.widest = max(g.widest, uint32(w))
		first, column, begin = first+(w*e.CharDim+1)*f, column+f, begin+w*f
	}
	x.shapeConvolution(e, large)
	return large
}

// shapeConvolution chooses the kernel of maxima that has the tables in shared memory, if it can be had.
func (x *cnn) shapeConvolution(e Structure, large bool) {
	const threads = 768
	const sums = threads * 8 * 8 // bytes in the place of the tables
	g := &x.args
	most := int((g.all + g.gpus - 1) / g.gpus) // words of a device
	shared := max(4*int(g.widest*g.a*g.columns), sums)
	odd := slices.ContainsFunc(e.Filters, func(f int) bool { return f%4 != 0 })
	switch {
	case large: // rows of some columns at a time stay in the second-level cache
		x.convolve = cuda.Grid{Blocks: min(most, 8*x.device.Multiprocessors), Threads: min(256, (int(g.d)+31)/32*32)}
	case odd || e.longest() > packedSymbols || len(e.Filters)+e.Features()/128 > maxGroups || g.widest > 4 || g.a > 255 || shared > x.device.SharedOfBlock:
		x.convolve = cuda.Grid{Blocks: min(most, 6*x.device.Multiprocessors), Threads: min(1024, (int(g.d)+31)/32*32)}
	default:
		copy(g.groups[:], e.groups(threads/32))
		if g.packed = 1; g.apart == 0 {
			g.kept = uint32((x.device.SharedOfBlock - shared) / (16 * threads))
		}
		x.convolve = cuda.Grid{Blocks: x.device.Multiprocessors, Threads: threads, Shared: shared + 16*threads*int(g.kept)}
	}
	g.blocks = uint32(x.convolve.Blocks) * g.gpus
}

// groups shares the warps of a thread block out to the quads of filters, by about how long a word takes.
func (e Structure) groups(warps int) (groups []group) {
	var before []int // the cost of all groups before each
	all := 0
	for b, quad := 0, 0; b < len(e.Widths); b++ {
		for first, of := 0, e.Filters[b]/4; first < of; first += 32 {
			quads := min(32, of-first)
			groups = append(groups, group{width: uint32(e.Widths[b]), quad: uint32(quad), quads: uint32(quads)})
			before = append(before, all)
			all, quad = all+(e.Widths[b]+8)*32/(32/quads), quad+quads
		}
	}
	before = append(before, all)
	begin := func(i int) uint32 { return uint32(i + (warps-len(groups))*before[i]/all) } // a warp each, and its share of the others
	for i := range groups {
		groups[i].begin, groups[i].end = begin(i), begin(i+1)
	}
	return groups
}

// allocateParameters allocates the parameters and their gradients. The filters of all widths
// lie one after the other.
func (x *cnn) allocateParameters(a *allocator, c cl.Options, e Structure) {
	g := &x.args
	symbols := a.matrix("embeddings", e.Alphabet, e.CharDim, e.CharDim)
	if g.lists > 0 { // products have whole sectors
		symbols = a.matrix("embeddings", e.Alphabet, e.CharDim, stride(e.CharDim))
	}
	weights := a.matrix("weights", int(g.d)+1, c.Dim, stride(c.Dim))
	x.all["symbols"], x.all["weights"] = symbols, weights
	values := x.filterValues()
	filters := a.matrix("filters", values, 1, 1) // of all shapes
	g.embeddings, g.filters = symbols.value, filters.value
	g.dembeddings, g.dfilters = a.Floats("gradient of embeddings", e.Alphabet*symbols.stride), a.Floats("gradient of filters", values)
	g.layer = weights.parameter(a.Floats("gradient of weights", (int(g.d)+1)*stride(c.Dim)), e.LayerRate(int(g.d)))
	x.updates = updatesArgs{decays: g.decays, count: uint32(1 + len(e.Widths))}
	x.updates.parameters[0] = symbols.parameter(g.dembeddings, 1)
	at := func(p cu.DevicePtr, values int) cu.DevicePtr {
		if p == 0 {
			return 0
		}
		return p + cu.DevicePtr(4*values)
	}
	row := 0
	for i, w := range e.Widths {
		first, f := int(g.first[i]), e.Filters[i]
		m := matrix{
			value: at(filters.value, first), State: cuda.State{First: at(filters.First, first), Second: at(filters.Second, first), SecondOfRow: at(filters.SecondOfRow, row)},
			rows: w*e.CharDim + 1, columns: f, stride: f,
		}
		x.all[fmt.Sprintf("filters%d.width%d", i, w)] = m
		x.updates.parameters[1+i] = m.parameter(at(g.dfilters, first), e.LayerRate(w*e.CharDim))
		row += m.rows
	}
}

// filterValues is the number of values of all filters.
func (x *cnn) filterValues() int {
	g, last := &x.args, x.args.widths-1
	return int(g.first[last] + (g.width[last]*g.e+1)*g.count[last])
}

// shapeScatter gives every warp of 32 columns tables of its own in shared
// memory, of size values for all columns. A dozen warps keep a
// multiprocessor busy. Of packed symbols up to four warps are a thread block, which has one piece. Each class of words has as many pieces.
func (x *cnn) shapeScatter(size int) {
	g, d := &x.args, x.device
	groups := (int(g.columns) + 31) / 32
	pieces := min(12*d.Multiprocessors/groups, int(g.all)/32, scatterBytes/(4*size))
	shared, warps := scatterShared(int(g.widest), int(g.a)), 1
	if g.packed > 0 {
		all := d.SharedOfBlock / shared // warps of a multiprocessor
		warps = min(4, max(1, all/3))
		pieces = min(all/warps*d.Multiprocessors/groups, int(g.all)/(32*warps), scatterBytes/(4*size))
		shared *= warps
	}
	pieces = max(pieces/classes, 1) * classes
	x.scatter = scatterShape{blocks: groups * pieces / int(g.gpus), warps: warps, pieces: pieces, line: (size + 3) / 4 * 4, shared: shared}
	g.pieces = uint32(pieces)
}

func (x *cnn) loadKernels(a *allocator) {
	get := func(name string) cu.Function { return a.Function("subword/cnn", "cnn_"+name, 0) }
	k := &x.kernels
	k.tables, k.convolve, k.means, k.standardize = get("tables"), get("convolve"), get("means"), get("standardize")
	k.weights, k.collect, k.gradients, k.update = get("weights_"+a.optimizer.Kernels), get("collect"), get("gradients"), get("update_"+a.optimizer.Kernels)
	switch {
	case x.args.packed > 0:
		k.convolve = a.Function("subword/quads", "quads_convolve", x.convolve.Shared)
		k.scatter = a.Function("subword/quads", "quads_scatter", x.scatter.shared)
	case x.lists == nil:
		k.scatter = a.Function("subword/cnn", "cnn_scatter", x.scatter.shared)
	}
}

func (x *cnn) matrices() map[string]matrix { return x.all }

func (x *cnn) target() (gradient narrowMatrix, weights cu.DevicePtr) { return x.ofRows, 0 }

func (x *cnn) skips(_, _ cu.DevicePtr) bool { return false } // products read all rows

func (x *cnn) sent() error { return nil } // compose prepares all that follows from parameters

func (x *cnn) launch(kernel cu.Function, blocks, threads, shared int) error {
	return cuda.Launch(x.device, kernel, cuda.Grid{Blocks: blocks, Threads: threads, Shared: shared}, &x.args)
}

// prepare computes the tables of symbols, and narrows the weights.
func (x *cnn) prepare(_, _ cu.DevicePtr, _ cl.StepMemory) error {
	g := &x.args
	size, weights := int(g.widest*g.a*g.columns), ((int(g.d)+1)*int(g.weights.Stride)/4+127)/128
	if x.lists != nil {
		size = 0
	}
	if err := x.launch(x.kernels.tables, (size+127)/128+weights, 128, 0); err != nil || x.lists == nil {
		return err
	}
	return x.lists.tables(g)
}

// compose writes rows = y weights + bias + words.
func (x *cnn) compose(rows, words cu.DevicePtr) error {
	g := &x.args
	if err := x.launchConvolution(); err != nil {
		return err
	}
	first := cu.DevicePtr(4 * g.gpu * g.layer.stride)
	if words != 0 {
		words += first
	}
	return x.multiply(0, productArgs{
		a: g.y, b: g.weights, c: rows + first, add: words, bias: g.layer.value + cu.DevicePtr(4*g.d*g.layer.stride),
		m: g.v, n: g.n, k: g.d, strideC: g.gpus * g.layer.stride,
	})
}

// launchConvolution has y written.
func (x *cnn) launchConvolution() error {
	g, k := &x.args, &x.kernels
	if g.packed > 0 && g.apart == 0 { // the kernel standardizes features, too
		return cuda.LaunchTogether(x.device, k.convolve, x.convolve, g)
	}
	if err := x.launch(k.convolve, x.convolve.Blocks, x.convolve.Threads, x.convolve.Shared); err != nil {
		return err
	}
	if g.fixed > 0 {
		return x.standardize()
	}
	if err := x.share(func(x *cnn) cu.DevicePtr { return x.args.sums }, int(g.blocks), 16*int(g.d)); err != nil {
		return err
	}
	if err := x.launch(k.means, (int(g.d)+3)/4, 128, 0); err != nil {
		return err
	}
	return x.standardize()
}

func (x *cnn) standardize() error {
	g := &x.args
	return x.launch(x.kernels.standardize, (int(g.v)*int(g.y.Stride)/4+255)/256, 256, 0)
}

// gradient updates the weights and brings the gradient of the features into tables. updateWeights of cnn.cu says how the
// standardization enters it. All kernels are on one stream, where early ones overlap; branches cost more than they gain.
func (x *cnn) gradient(step cu.DevicePtr) error {
	g := &x.args
	g.step, x.updates.step = step, step
	line := 4 * (g.d + 1) * g.layer.stride
	grid := cuda.Grid{Blocks: int(g.d) + 1, Threads: (int(g.layer.stride)/4 + 31) / 32 * 32}
	err := cmp.Or(
		x.multiply(2, productArgs{a: g.y, b: x.ofRows, c: g.parts + cu.DevicePtr(g.gpu*line), m: g.d + 1, n: g.n, k: g.v, strideC: g.layer.stride}),
		x.share(func(x *cnn) cu.DevicePtr { return x.args.parts }, int(g.chunks), int(line)),
		cuda.LaunchEarly(x.device, x.kernels.weights, grid, g, x.early),
		x.multiply(1, productArgs{a: x.ofRows, b: g.weights, c: g.dy, m: g.v, n: g.d, k: g.n, strideC: g.strideD}),
	)
	if err != nil {
		return err
	}
	if x.lists != nil {
		return x.lists.gradient(g)
	}
	return cuda.Launch(x.device, x.kernels.scatter, cuda.Grid{Blocks: x.scatter.blocks, Threads: 32 * x.scatter.warps, Shared: x.scatter.shared}, g)
}

// update trains what the tables follow from, by their gradient. Its kernels are small.
func (x *cnn) update(step cu.DevicePtr) error {
	g, k := &x.args, &x.kernels
	if x.lists == nil {
		quads, filters := int(g.a*((g.e+3)/4)), x.filterValues()
		err := cmp.Or(
			x.share(func(x *cnn) cu.DevicePtr { return x.args.dparts }, x.scatter.pieces, 4*x.scatter.line),
			x.launch(k.collect, (int(g.widest*g.a*g.columns)+31)/32, 256, 0),
			x.launch(k.gradients, (quads+7)/8+(filters+255)/256, 256, 0),
		)
		if err != nil {
			return err
		}
	}
	rows := 0
	for i := range x.updates.parameters {
		rows += int(x.updates.parameters[i].rows)
	}
	return cuda.Launch(x.device, k.update, cuda.Grid{Blocks: rows, Threads: 64}, &x.updates)
}

// beside is four of an H200's 132.
func (x *cnn) beside() int { return x.device.Multiprocessors / 32 }
