//go:build gpu

package sentence

import (
	"cmp"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// A kernel is one for a shape, with the threads and the bytes of shared memory of its thread
// blocks.
type kernel struct {
	source, name    string
	threads, shared int
	forms           bool // the other one is NAME_bounded: see ring.cuh
	sentences       int  // in flight on a multiprocessor
}

// A rowLayout is the part of every row that one warp has: 4 f + e chunks. One warp
// trains a sentence, or, in a team, as many as rows need.
type rowLayout struct {
	f, e int
	team bool
}

func (p rowLayout) chunks() int { return 4*p.f + p.e }

// A shape is for windows of so many outputs, at most.
type shape struct {
	outputs  int
	together []int // context words at a time: the second where it divides the window and the first does not
	layouts  []rowLayout
}

// A family is the kernels of a mode.
type family struct {
	source     string // of its kernels
	name       string // that those of its kernels begin with; empty: source
	shapes     []shape
	half       []shape // in half precision; none: see halfWindows
	sentences  int     // in flight on a multiprocessor
	passing    bool    // rows of context words do not stay: see Passing in windows.cuh
	unassisted bool    // no rows are staged
	forms      bool    // kernels have two
}

var (
	whole    = []rowLayout{{1, 0, false}, {2, 0, false}, {3, 0, false}, {2, 0, true}}
	parted   = []rowLayout{{1, 0, false}, {2, 0, false}, {2, 2, false}, {3, 0, false}, {2, 0, true}}
	narrow   = []rowLayout{{1, 0, false}, {1, 0, true}}
	unshared = []shape{{6, []int{1}, whole}, {16, []int{1}, narrow}}
	means    = []shape{{6, []int{1}, parted}, {16, []int{1}, narrow}}
	inPairs  = []shape{{6, []int{6}, narrow}, {16, []int{2}, []rowLayout{{1, 0, true}}}}
)

var fullW2VShapes = []shape{
	{6, []int{6, 5}, parted},
	{11, []int{2}, []rowLayout{{1, 0, false}, {1, 0, true}, {1, 1, true}}},
	{16, []int{2}, []rowLayout{{1, 0, false}, {1, 0, true}, {1, 1, true}}},
}

var families = map[Mode]family{
	FullW2V:      {source: "fullw2v", shapes: fullW2VShapes, sentences: 12, forms: true},
	FullW2VPairs: {source: "fullw2v", name: "fullw2v_pairs", shapes: inPairs, sentences: 12, forms: true},
	PWord2Vec:    {source: "fullw2v", shapes: fullW2VShapes, sentences: 12, forms: true},
	FullRegister: {source: "fullregister", shapes: []shape{{6, []int{6, 5}, whole}, {16, []int{2}, narrow}}, sentences: 12, passing: true, forms: true},
	Word2Vec:     {source: "word2vec", shapes: unshared, half: unshared, sentences: 12, unassisted: true},
	CBOW:         {source: "cbow", shapes: means, half: unshared, sentences: 12},
	PARW2V:       {source: "parw2v", shapes: []shape{{1, []int{8, 10}, narrow}}, sentences: 8},
}

// slots are the places of a ring of rows: for a window and the word that enters next.
func slots(radius int) int { return 2*radius + 2 }

func (c *Options) kernel() (kernel, error) {
	size, err := cuda.KernelSize(c.Dim)
	if err != nil {
		return kernel{}, err
	}
	f := families[c.Mode]
	name := cmp.Or(f.name, f.source) + "_"
	switch {
	case c.Piece > 0:
		k := c.choose(f, name, f.shapes)
		k.source, k.forms = k.source+"_pieces", false
		return k, nil
	case !c.HalfPrecision:
		return c.choose(f, name, f.shapes), nil
	case len(f.half) > 0:
		f.unassisted = true
		return c.choose(f, f.source+"_half_", f.half), nil
	}
	groups, sentences := (slots(c.Radius)+7)/8, f.sentences
	if size == 1 {
		sentences = 16
	}
	row := 512*size + 16 // bytes
	source := "fullw2v_half"
	if c.HalfWords {
		source = "fullw2v_halves"
	}
	return kernel{source, fmt.Sprintf("%s_%d_%d", source, size, groups), 32, (groups*8 + slots(c.Radius)) * row, true, sentences}, nil
}

// choose takes the kernel that covers rows with the fewest chunks, and windows with the fewest
// context words too many.
func (c *Options) choose(f family, name string, shapes []shape) kernel {
	outputs := 1 + c.Negatives
	if c.Mode == PARW2V {
		outputs = 1 // of attraction
	}
	i := 0
	for shapes[i].outputs < outputs {
		i++
	}
	shape := shapes[i]
	layout, warps := c.rowLayout(shape.layouts)
	together := shape.together[0]
	for _, n := range shape.together {
		if 2*c.Radius%together != 0 && 2*c.Radius%n == 0 {
			together = n
		}
	}
	rows, coefficients := 2*slots(c.Radius)+1, together*8
	if f.passing {
		rows = 2*c.Radius + 1
	}
	if shape.outputs > 8 {
		coefficients *= 2
	}
	if shape.outputs*layout.chunks() > 24 && !f.unassisted {
		rows += shape.outputs // of the next window: see staged in products.cuh
	}
	dots := 0
	if layout.team {
		name, dots = name+"team_", 2*64 // that warps exchange
	}
	shared := 4 * warps * (rows*chunkValues*layout.chunks() + coefficients + dots)
	if c.Mode == PARW2V {
		batch := 2 * ((c.Batch + 7) &^ 7) // rows of a batch, and their values of before: see parw2v.cu
		shared = max(shared, 4*c.PerWindow()+4*batch+16+4*warps*(batch*chunkValues*layout.chunks()+32+dots))
	}
	return kernel{
		f.source, fmt.Sprintf("%s%d_%d_%d_%d", name, layout.f, layout.e, shape.outputs, together), 32 * warps, shared, f.forms, f.sentences,
	}
}

// rowLayout chooses the layout of a row for a warp, and the number of warps, that cover the row with
// the fewest chunks.
func (c *Options) rowLayout(among []rowLayout) (layout rowLayout, warps int) {
	for _, p := range among {
		w := (chunks(c.Dim) + p.chunks() - 1) / p.chunks()
		if (p.team || w == 1) && (warps == 0 || w*p.chunks() < warps*layout.chunks()) {
			layout, warps = p, w
		}
	}
	return layout, warps
}
