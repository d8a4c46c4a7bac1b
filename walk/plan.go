package walk

import "github.com/w2vcl/w2vcl/kernels/simd"

// A Plan is all that the walks of a corpus follow from, for a processor that walks by itself. It is the Source of the corpus's text.
// The slices are the graph's; do not change them.
type Plan struct {
	Seed       uint64
	Starts     []int    // (V+1): the neighbours of node i are Ends[Starts[i]:Starts[i+1]], in rising order
	Ends       []uint32 // (E)
	Cells      []uint32 // (E, 2): corpus.Alias.Table of the weights of each node's edges; nil: all weights are 1
	Rounds     int
	Starters   int  // walks begin at the nodes 0 ... Starters-1
	FirstOrder bool // p = q = 1
	Directed   bool

	// See stepper.
	Back, Near, Far, Folded, FoldedAcceptance uint32

	walks *walks
}

func (w *walks) plan() *Plan {
	return &Plan{
		Seed: w.seed, Starts: w.g.starts, Ends: w.g.ends, Cells: w.cells, Rounds: w.rounds, Starters: w.starters, FirstOrder: w.firstOrder, Directed: w.g.Directed,
		Back: w.back, Near: w.near, Far: w.far, Folded: w.folded, FoldedAcceptance: w.foldedAcceptance, walks: w,
	}
}

// Order returns the bijection that gives the node where walk i of a round begins: its value for i, of which its value is taken again
// until it is below Starters.
func (p *Plan) Order(round int) simd.Bijection { return p.walks.order(uint32(round)).Bijection }
