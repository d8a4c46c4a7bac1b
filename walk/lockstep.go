package walk

import (
	"math/bits"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// walks are all walks over a graph with some options: o.Walks rounds of one walk from each of the S nodes.
// Walk number w is walk w mod S of round w/S. Each can be walked at any time.
type walks struct {
	*stepper
	length   int
	rounds   int
	starters int // S
	seed     uint64
}

// count returns the number of walks.
func (w *walks) count() int { return w.rounds * w.starters }

// A startOrder is the order in which the walks of a round begin at the nodes: a bijection of the numbers
// below the smallest power of two that is at least S, repeated until the result is below S.
type startOrder struct {
	simd.Bijection
	nodes uint32
}

// orderStart is the counter of the keys of orders. The numbers of walks have counters below 2^31 · 2^32.
const orderStart = 1 << 63

func (w *walks) order(round uint32) startOrder {
	o := startOrder{nodes: uint32(w.starters)}
	all := uint32(1)<<bits.Len32(o.nodes-1) - 1
	o.Low = 1<<((bits.Len32(all)+1)/2) - 1
	o.High = all &^ o.Low
	for k := range o.Keys {
		r := corpus.Philox(w.seed, corpus.StreamWalk.Sub(round), orderStart+uint64(k))
		o.Keys[k] = uint64(r[1])<<32 | uint64(r[0]) | 1
	}
	return o
}

// at returns the node where walk i of the round begins.
func (o *startOrder) at(i uint32) uint32 {
	x := [1]uint32{i}
	for o.Scramble(x[:]); x[0] >= o.nodes; {
		o.Scramble(x[:])
	}
	return x[0]
}

// plainWalk is the definition of a walk. It appends the nodes of one to path.
func (w *walks) plainWalk(path []uint32, round, start uint32) []uint32 {
	random := newNumbers(w.seed, round, start)
	previous, here := start, start
	path = append(path, start)
	for n := 1; n < w.length; n++ {
		first, end := w.row(here)
		if first == end {
			break
		}
		var x uint32
		switch {
		case w.firstOrder:
			x = w.draw(first, end, random.next())
		case n == 1:
			x = w.draw(first, end, random.next())
			random.next() // so that a try's numbers are of one call of Philox
		default:
			x = w.step(previous, here, &random)
		}
		previous, here = here, x
		path = append(path, here)
	}
	return path
}

const (
	// together is how many walks a goroutine walks at a time. A step waits for two reads of memory that is in no
	// cache; the processor begins the reads of other walks meanwhile.
	together = 64

	// drawnAhead is how many random numbers of each walk are drawn at a time.
	drawnAhead = 64
)

// A lockstep walks several walks at a time. It serves one goroutine.
type lockstep struct {
	*walks
	order startOrder
	round int // that has this order; -1: none yet

	random [together * drawnAhead]uint32
	here   [together]uint32
	starts [together]uint32 // the nodes where the walks begin
	at     [together]int
	rounds [together]uint32
	live   []int // the walks that have not ended

	lengths [together]int
	paths   []uint32 // together · length
}

func (w *walks) lockstep() *lockstep {
	return &lockstep{walks: w, round: -1, live: make([]int, 0, together), paths: make([]uint32, together*w.length)}
}

// walk walks the walks first ... end-1, at most together. path returns them then.
func (l *lockstep) walk(first, end int) {
	nodes := l.starters
	for b := range end - first {
		if round := (first + b) / nodes; round != l.round {
			l.order, l.round = l.walks.order(uint32(round)), round
		}
		l.rounds[b], l.starts[b] = uint32(l.round), l.order.at(uint32((first+b)%nodes))
	}
	if l.firstOrder {
		l.firstOrderWalks(end - first)
		return
	}
	for b := range end - first {
		path := l.plainWalk(l.paths[b*l.length:][:0:l.length], l.rounds[b], l.starts[b])
		l.lengths[b] = len(path)
	}
}

// path returns the walk of a number, from the first that was walked on.
func (l *lockstep) path(b int) []uint32 { return l.paths[b*l.length:][:l.lengths[b]] }

// firstOrderWalks walks count walks, a step of all before the next.
func (l *lockstep) firstOrderWalks(count int) {
	l.live = l.live[:0]
	for b := range count {
		l.here[b], l.lengths[b], l.paths[b*l.length] = l.starts[b], l.length, l.starts[b]
		l.live = append(l.live, b)
	}
	for n := 1; n < l.length && len(l.live) > 0; n++ {
		k := (n - 1) % drawnAhead
		if k == 0 {
			l.drawAhead(n - 1)
		}
		l.choose(n, k)
		for _, b := range l.live {
			x := l.g.ends[l.at[b]]
			l.here[b], l.paths[b*l.length+n] = x, x
		}
	}
}

// drawAhead draws the numbers first, first+1, ... of the walks.
func (l *lockstep) drawAhead(first int) {
	count := min(drawnAhead, l.length-1-first)
	for _, b := range l.live {
		simd.Philox(l.random[b*drawnAhead:][:count], l.seed, uint64(corpus.StreamWalk.Sub(l.rounds[b])), uint64(l.starts[b])<<32+uint64(first/4))
	}
}

// choose chooses the edges of step n, with number k of those that were drawn. A walk without a way on has
// n nodes and is not live any more.
func (l *lockstep) choose(n, k int) {
	live := l.live[:0]
	for _, b := range l.live {
		start, end := l.row(l.here[b])
		if start == end {
			l.lengths[b] = n
			continue
		}
		live = append(live, b)
		cell, low := bits.Mul32(l.random[b*drawnAhead+k], uint32(end-start))
		l.at[b] = start + int(cell)
		if l.cells != nil {
			l.at[b] = l.chosen(start, cell, low)
		}
	}
	l.live = live
}

// A Plan determines the walks of a corpus, so that a device can make them without this package. It is the Source of the corpus's text.
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
