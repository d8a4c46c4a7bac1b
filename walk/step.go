package walk

import (
	"context"
	"math"
	"math/bits"

	"github.com/w2vcl/w2vcl/corpus"
)

// A stepper takes the steps of node2vec's walks. A walk that came from t to v goes on
// to a neighbour x with a probability in proportion to w(v,x)·α(t,x),
//
//	α = 1/p  if x is t
//	    1    if there is an edge from t to x
//	    1/q  otherwise
//
// (Grover and Leskovec 2016, section 3.2). Tables of these probabilities, one for
// each edge, would take memory for the sum of the squared degrees. The stepper draws
// x by w alone instead, accepts it with probability α/bound, and otherwise draws
// again (Yang et al., "KnightKing", SOSP 2019).
//
// With a small p, 1/p as the bound would reject nearly every x but t. In a graph without weights the bound is therefore
// that of the other α. The part of 1/p above it competes as if the node had more edges, all to t (KnightKing's folding of
// outliers).
//
// All choices compare numbers of 32 bits, so every processor makes the same ones. Any number of goroutines
// may use a stepper.
type stepper struct {
	g     *Graph
	cells []uint32 // for each edge the two numbers of [corpus.Alias.Table] of its row; nil: all weights are 1

	firstOrder       bool   // p = q = 1: all α are 1
	back, near, far  uint32 // α is accepted if 32 random bits are at most this
	folded           uint32 // edges to t that stand for the part of 1/p above the bound
	foldedAcceptance uint32 // as back, for each of these
}

// newStepper returns a stepper with node2vec's parameters p and q.
func newStepper(ctx context.Context, g *Graph, p, q float64, threads int) (*stepper, error) {
	s := &stepper{g: g, firstOrder: p == 1 && q == 1}
	back, far := 1/p, 1/q
	bound := max(1, far)
	if g.weights == nil && back > bound {
		over := (back - bound) / bound
		s.folded = uint32(math.Ceil(over))
		s.foldedAcceptance = acceptance(over / math.Ceil(over))
	}
	if g.weights != nil {
		bound = max(bound, back)
	}
	s.back, s.near, s.far = acceptance(min(back/bound, 1)), acceptance(1/bound), acceptance(far/bound)
	if g.weights == nil {
		return s, nil
	}
	return s, s.makeCells(ctx, threads)
}

// acceptance returns the largest of the 32-bit numbers that are accepted.
func acceptance(probability float64) uint32 {
	return uint32(max(math.Round(probability*(1<<32)), 1) - 1)
}

// makeCells makes the tables of the nodes' weights.
func (s *stepper) makeCells(ctx context.Context, threads int) (err error) {
	var done func()
	if s.cells, done, err = allocate[uint32](2 * len(s.g.ends)); err != nil {
		return err
	}
	defer done()
	weights := make([][]float64, threads)
	return eachNode(ctx, threads, len(s.g.Names), func(worker int, i uint32) error {
		some := weights[worker][:0]
		for _, w := range s.g.edgeWeights(i) {
			some = append(some, float64(w))
		}
		if weights[worker] = some; len(some) == 0 {
			return nil
		}
		alias, err := corpus.NewAlias(some)
		if err == nil {
			copy(s.cells[2*s.g.starts[i]:], alias.Table())
		}
		return err
	})
}

// row returns the edges of a node, from start to before end.
func (s *stepper) row(node uint32) (start, end int) {
	return s.g.starts[node], s.g.starts[node+1]
}

// numbers are the random numbers of a walk: the words of
// Philox(seed, StreamWalk.Sub(round), start·2^32 + n) for n = 0, 1, ...
type numbers struct {
	seed    uint64
	stream  corpus.Stream
	counter uint64 // of the next four
	ready   [4]uint32
	left    int // of ready
}

func newNumbers(seed uint64, round, start uint32) numbers {
	return numbers{seed: seed, stream: corpus.StreamWalk.Sub(round), counter: uint64(start) << 32}
}

// next returns the next number.
func (n *numbers) next() uint32 {
	if n.left == 0 {
		n.ready, n.left = corpus.Philox(n.seed, n.stream, n.counter), 4
		n.counter++
	}
	n.left--
	return n.ready[3-n.left]
}

// next64 returns the next two numbers as one.
func (n *numbers) next64() uint64 {
	low := uint64(n.next())
	return uint64(n.next())<<32 | low
}

// draw draws an edge of a row by the weights alone, and returns where it leads to. The row must have one.
func (s *stepper) draw(start, end int, random uint32) uint32 {
	k, low := bits.Mul32(random, uint32(end-start))
	return s.g.ends[s.chosen(start, k, low)]
}

// chosen returns the edge that 32 random bits choose of cell k of a node whose edges begin at start.
func (s *stepper) chosen(start int, k, low uint32) int {
	at := start + int(k)
	if s.cells != nil && low >= s.cells[2*at] {
		at = start + int(s.cells[2*at+1])
	}
	return at
}

// step draws the neighbour of here to which a walk goes on that came from previous. Each try takes two
// random numbers.
func (s *stepper) step(previous, here uint32, random *numbers) uint32 {
	start, degree := s.g.starts[here], uint32(s.g.starts[here+1]-s.g.starts[here])
	if degree == 1 {
		return s.g.ends[start]
	}
	folded := s.foldedAt(previous, here)
	// Rejection takes long where nearly all α are far below the bound. After one try
	// for each neighbour, a table of all neighbours costs no more than further tries.
	for range max(degree, leastTries) {
		choice, level := random.next(), random.next()
		k, low := bits.Mul32(choice, degree+folded)
		if k >= degree {
			if level <= s.foldedAcceptance {
				return previous
			}
			continue
		}
		x := s.g.ends[s.chosen(start, k, low)]
		if s.accepts(previous, x, level) {
			return x
		}
	}
	return s.drawFromTable(previous, here, random)
}

// leastTries are made before the table also at a node with fewer neighbours.
const leastTries = 8

// foldedAt returns the edges from here to previous that stand for the part of 1/p above the bound: none if there
// is no edge from here to previous, in a directed graph.
func (s *stepper) foldedAt(previous, here uint32) uint32 {
	if s.folded > 0 && s.g.Directed {
		if _, ok := s.g.edge(here, previous); !ok {
			return 0
		}
	}
	return s.folded
}

// accepts reports whether a walk goes on to x. It looks for the edge only if that matters.
func (s *stepper) accepts(previous, x, level uint32) bool {
	switch {
	case x == previous:
		return level <= s.back
	case level <= min(s.near, s.far):
		return true
	case level > max(s.near, s.far):
		return false
	}
	return level <= s.acceptanceOf(previous, x)
}

// acceptanceOf returns the largest level that accepts x.
func (s *stepper) acceptanceOf(previous, x uint32) uint32 {
	if x == previous {
		return s.back
	}
	if s.linked(previous, x) {
		return s.near
	}
	return s.far
}

// linked reports whether an edge leads from one node to the other. An undirected one is looked for at the node
// that has fewer.
func (s *stepper) linked(from, to uint32) bool {
	if !s.g.Directed && to > from && s.g.starts[to+1]-s.g.starts[to] < s.g.starts[from+1]-s.g.starts[from] {
		from, to = to, from
	}
	_, ok := s.g.edge(from, to)
	return ok
}

// drawFromTable is step without rejection: it draws among all neighbours at once. It takes two random numbers.
func (s *stepper) drawFromTable(previous, here uint32, random *numbers) uint32 {
	total, _ := s.masses(previous, here, mass{math.MaxUint64, math.MaxUint64})
	_, x := s.masses(previous, here, total.part(random.next64()))
	return x
}

// A mass is an exact sum of 64-bit products: high·2^64 + low. Even the least probable neighbour has a mass above 0.
type mass struct{ high, low uint64 }

// plus adds the share of a cell, out of 2^32, that is accepted.
func (m mass) plus(share uint64, accepted uint32) mass {
	high, low := bits.Mul64(share, uint64(accepted)+1)
	low, carry := bits.Add64(m.low, low, 0)
	return mass{m.high + high + carry, low}
}

// part returns u/2^64 of a mass, rounded down.
func (m mass) part(u uint64) mass {
	high, low := bits.Mul64(u, m.high)
	more, _ := bits.Mul64(u, m.low)
	low, carry := bits.Add64(low, more, 0)
	return mass{high + carry, low}
}

func (m mass) exceeds(level mass) bool {
	return m.high > level.high || m.high == level.high && m.low > level.low
}

// masses adds up the probabilities that the neighbours of here are drawn and accepted. It stops at the one with which the sum
// exceeds level, and returns it.
func (s *stepper) masses(previous, here uint32, level mass) (sum mass, found uint32) {
	start, end := s.g.starts[here], s.g.starts[here+1]
	add := func(share uint64, x, accepted uint32) bool {
		sum = sum.plus(share, accepted)
		found = x
		return sum.exceeds(level)
	}
	const cell = 1 << 32
	for at := start; at < end; at++ {
		own, share := s.g.ends[at], uint64(cell)
		if s.cells != nil {
			share = uint64(s.cells[2*at])
			if other := s.g.ends[start+int(s.cells[2*at+1])]; add(cell-share, other, s.acceptanceOf(previous, other)) {
				return sum, found
			}
		}
		if share > 0 && add(share, own, s.acceptanceOf(previous, own)) {
			return sum, found
		}
	}
	if folded := s.foldedAt(previous, here); folded > 0 {
		add(cell*uint64(folded), previous, s.foldedAcceptance)
	}
	return sum, found
}
