package walk

import (
	"math"
	"sort"

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
// again (Yang et al., "KnightKing", SOSP 2019). Any number of goroutines may use it.
type stepper struct {
	g               *Graph
	back, near, far float64 // the values of α: 1/p, 1, 1/q
	bound, least    float64 // the largest and the smallest α of an x other than t
	firstOrder      bool    // p = q = 1: all α are 1
	folded          bool    // 1/p is above the bound; see returnProbability

	// For each node; nil if all weights are 1.
	alias []*corpus.Alias // draws an edge by weight
	sums  []float64       // of the weights of its edges
}

// newStepper returns a stepper with node2vec's parameters p and q.
func newStepper(g *Graph, p, q float64) (*stepper, error) {
	s := &stepper{g: g, back: 1 / p, near: 1, far: 1 / q}
	s.bound, s.least = max(s.near, s.far), min(s.near, s.far)
	s.firstOrder = p == 1 && q == 1
	s.folded = s.back > s.bound
	if g.weights == nil {
		return s, nil
	}
	s.alias = make([]*corpus.Alias, len(g.Names))
	s.sums = make([]float64, len(g.Names))
	for i := range g.Names {
		weights := g.edgeWeights(uint32(i))
		if len(weights) == 0 {
			continue
		}
		for _, w := range weights {
			s.sums[i] += w
		}
		var err error
		if s.alias[i], err = corpus.NewAlias(weights); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// draws are the random numbers of one walk or shuffle.
type draws struct {
	seed    uint64
	stream  corpus.Stream
	counter uint64
}

// next returns 128 new random bits.
func (d *draws) next() [4]uint32 {
	d.counter++
	return corpus.Philox(d.seed, d.stream, d.counter-1)
}

// bits64 returns 64 new random bits.
func (d *draws) bits64() uint64 {
	r := d.next()
	return uint64(r[1])<<32 | uint64(r[0])
}

// drawByWeight draws a neighbour of a node by the weights alone. The node must have
// one.
func (s *stepper) drawByWeight(node, random uint32) uint32 {
	neighbours := s.g.neighbours(node)
	if s.alias == nil {
		return neighbours[corpus.Below(random, uint32(len(neighbours)))]
	}
	return neighbours[s.alias[node].Draw(random)]
}

// step draws the neighbour of here to which a walk goes on that came from previous.
func (s *stepper) step(previous, here uint32, random *draws) uint32 {
	if s.firstOrder {
		return s.drawByWeight(here, random.next()[0])
	}
	returns := s.returnProbability(previous, here)
	// Rejection takes long where nearly all α are far below the bound. After one try
	// for each neighbour, a table of all neighbours costs no more than further tries.
	for range s.g.neighbours(here) {
		r := random.next()
		if fraction(r[2]) < returns {
			return previous
		}
		x := s.drawByWeight(here, r[0])
		if level := fraction(r[1]) * s.bound; level < s.least && x != previous || level < s.alpha(previous, x) {
			return x
		}
	}
	return s.drawFromTable(previous, here, random)
}

// alpha returns α(previous, x).
func (s *stepper) alpha(previous, x uint32) float64 {
	if x == previous {
		return s.back
	}
	if _, ok := s.g.edge(previous, x); ok {
		return s.near
	}
	return s.far
}

// returnProbability returns the probability to go back before drawing a neighbour.
// With a small p, 1/p is far above all other α; as the bound it would reject nearly
// every other neighbour. The part of 1/p above the bound therefore competes as an
// edge of its own with the sum of all weights times the bound (KnightKing's folding
// of outliers).
func (s *stepper) returnProbability(previous, here uint32) float64 {
	if !s.folded {
		return 0
	}
	at, ok := s.g.edge(here, previous)
	if !ok { // the edge leads one way
		return 0
	}
	weight, sum := 1.0, float64(len(s.g.neighbours(here)))
	if s.sums != nil {
		weight, sum = s.g.edgeWeights(here)[at], s.sums[here]
	}
	share := weight * (s.back - s.bound)
	return share / (share + sum*s.bound)
}

// drawFromTable is step without rejection: it draws from a table of all neighbours.
func (s *stepper) drawFromTable(previous, here uint32, random *draws) uint32 {
	neighbours, sums := s.g.neighbours(here), s.cumulative(previous, here)
	level := float64(random.bits64()) / (1 << 64) * sums[len(sums)-1]
	i := sort.Search(len(neighbours), func(i int) bool { return sums[i] > level })
	return neighbours[min(i, len(neighbours)-1)]
}

// cumulative returns the running sums of w(here,x)·α(previous,x) over the neighbours
// x of here.
func (s *stepper) cumulative(previous, here uint32) []float64 {
	neighbours, weights := s.g.neighbours(here), s.g.edgeWeights(here)
	sums := make([]float64, len(neighbours))
	sum := 0.0
	for i, x := range neighbours {
		product := s.alpha(previous, x)
		if weights != nil {
			product *= weights[i]
		}
		sum += product
		sums[i] = sum
	}
	return sums
}

// fraction maps 32 random bits to [0, 1).
func fraction(random uint32) float64 { return float64(random) / (math.MaxUint32 + 1) }
