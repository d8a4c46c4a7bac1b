//go:build gpu

package subword

import (
	"cmp"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// listsArgs is Lists of lists.cu.
type listsArgs struct {
	cnn                         cnnArgs
	symbols, scaled             narrowMatrix
	filters, dtables            narrowMatrix
	units                       cu.DevicePtr
	biases, parts, ofFilters    cu.DevicePtr
	uses, pieces, splits        cu.DevicePtr
	columns, strideE, chunks, _ uint32
}

// lists are the tables of a CNN of a large alphabet.
type lists struct {
	device         *cuda.Device
	args           listsArgs
	products       [3]product // of tables, of embeddings, of filters
	pieces, splits int

	low, differentiate, gather, collect, finish cu.Function
}

func newLists(a *allocator, e Structure, g *cnnArgs) *lists {
	x := &lists{device: a.Device}
	l, t := &x.args, e.TableColumns()
	starts, uses := composed.Invert(e.Starts, e.Symbols, e.Alphabet, useOf)
	pieces, splits := piecesOf(starts)
	slots := 0
	if len(splits) > 0 {
		slots = int(splits[len(splits)-1].last)
	}
	x.pieces, x.splits = len(pieces), len(splits)
	l.columns, l.strideE = uint32(t), uint32(stride(e.CharDim))
	l.uses, l.pieces, l.splits = placed(a, "places of symbols", uses), placed(a, "places of symbols", pieces), placed(a, "places of symbols", splits)
	l.parts = a.Floats("parts of tables", slots*int(g.pitch))
	g.tables = a.Floats("tables of symbols", e.Alphabet*int(g.pitch))
	l.units = placed(a, "units of symbols", unitsOf(starts))
	l.symbols, l.scaled = a.narrow("embeddings", e.Alphabet, e.CharDim), a.narrow("embeddings", e.Alphabet, e.CharDim+1)
	l.filters = a.narrow("filters", e.CharDim, t)
	l.dtables, l.biases = a.narrow("gradient of tables", e.Alphabet, t), a.Floats("biases of filters", int(g.pitch))
	x.products[0] = a.product("rows", e.Alphabet, t, e.CharDim, 0)
	x.products[1] = a.product("features", e.Alphabet, e.CharDim, t, 0)
	x.products[2] = a.product("weights", e.CharDim+1, t, e.Alphabet, 1)
	l.chunks = uint32(x.products[2].chunks)
	l.ofFilters = a.Floats("gradient of filters", int(l.chunks)*(e.CharDim+1)*int(g.pitch))
	get := func(name string) cu.Function { return a.Function("subword/lists", "lists_"+name, 0) }
	x.low, x.differentiate, x.gather, x.collect, x.finish = get("low"), get("differentiate"), get("gather"), get("collect"), get("finish")
	return x
}

func (x *lists) launch(kernel cu.Function, blocks, threads int) error {
	if blocks == 0 {
		return nil
	}
	return cuda.Launch(x.device, kernel, cuda.Grid{Blocks: blocks, Threads: threads}, &x.args)
}

func groupsOf(n uint32, size int) int { return (int(n) + size - 1) / size }

func (x *lists) tables(g *cnnArgs) error {
	l := &x.args
	l.cnn = *g
	filters, symbols := int(g.e)*int(l.filters.Stride)/4, int(g.a)*int(l.scaled.Stride)/4
	if err := x.launch(x.low, (filters+127)/128+(symbols+127)/128, 128); err != nil {
		return err
	}
	return x.products[0].launch(x.device, productArgs{
		a: l.symbols, b: l.filters, c: g.tables, bias: l.biases, m: g.a, n: l.columns, k: g.e, strideC: g.pitch, unit: 1,
	}, false) // low writes b
}

// gradient turns the gradient of y into those of embeddings and filters.
func (x *lists) gradient(g *cnnArgs) error {
	l := &x.args
	l.cnn = *g
	const unit = 1. / tableUnits
	return cmp.Or(
		x.launch(x.differentiate, int(g.v*g.spellings)*groupsOf(g.d, 256), 256),
		x.launch(x.gather, x.pieces*groupsOf(g.columns, 128), 128),
		x.launch(x.collect, x.splits*groupsOf(l.columns, 128), 128),
		x.products[1].launch(x.device, productArgs{a: l.dtables, b: l.filters, c: g.dembeddings, m: g.a, n: g.e, k: l.columns, strideC: l.strideE, unit: unit}, false),
		x.products[2].launch(x.device, productArgs{a: l.scaled, b: l.dtables, c: l.ofFilters, m: g.e + 1, n: l.columns, k: g.a, strideC: g.pitch, unit: unit}, false),
		x.launch(x.finish, groupsOf((g.e+1)*l.columns, 128)+groupsOf(g.a*l.strideE, 128), 128),
	)
}

// tableUnits is that of lists.cu.
const tableUnits = 4
