package walk

import (
	"math"
	"sort"

	"github.com/w2vcl/w2vcl/corpus"
)

// A stepper takes the steps of node2vec's walks. Coming from t to v, it goes on
// to a neighbour x with a probability in proportion to w(v,x)·α(t,x),
//
//	α = 1/p  if x is t
//	    1    if there is an edge from t to x
//	    1/q  otherwise
//
// (Grover and Leskovec 2016, section 3.2). Tables of these probabilities, one for
// each edge, would take the sum of the squared degrees in memory. Instead x is
// drawn by w alone and accepted with probability α/bound, else drawn again
// (Yang et al., "KnightKing", SOSP 2019). It serves any number of goroutines.
type stepper struct {
	g                  *Graph
	back, near, far    float64 // α: 1/p, 1, 1/q
	bound, sure        float64 // the largest and the smallest α of a node that is not t
	alias              []*corpus.Alias
	sums               []float64 // of the weights of each node's edges; nil: all weights are 1
	firstOrder, folded bool      // p = q = 1; 1/p is above the bound
}

func newStepper(g *Graph, p, q float64) (*stepper, error) {
	s := &stepper{g: g, back: 1 / p, near: 1, far: 1 / q}
	s.bound, s.sure = max(s.near, s.far), min(s.near, s.far)
	s.firstOrder = p == 1 && q == 1
	s.folded = s.back > s.bound
	if g.weights == nil {
		return s, nil
	}
	s.alias = make([]*corpus.Alias, len(g.Names))
	s.sums = make([]float64, len(g.Names))
	for i := range g.Names {
		weights := g.outWeights(uint32(i))
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

// draws are the random numbers of one walk, four words at a time.
type draws struct {
	seed    uint64
	stream  corpus.Stream
	counter uint64
}

func (d *draws) next() [4]uint32 {
	d.counter++
	return corpus.Philox(d.seed, d.stream, d.counter-1)
}

// first draws a neighbour by the weights alone. There must be one.
func (s *stepper) first(node, random uint32) uint32 {
	out := s.g.out(node)
	if s.alias == nil {
		return out[corpus.Below(random, uint32(len(out)))]
	}
	return out[s.alias[node].Draw(random)]
}

// next draws the neighbour of here to go on to when coming from previous.
func (s *stepper) next(previous, here uint32, random *draws) uint32 {
	if s.firstOrder {
		return s.first(here, random.next()[0])
	}
	returns := s.returning(previous, here)
	// Rejection may take long where nearly all α are far below the bound. After
	// as many tries as there are neighbours, looking at all of them costs no more.
	for range s.g.out(here) {
		r := random.next()
		if fraction(r[2]) < returns {
			return previous
		}
		x := s.first(here, r[0])
		if level := fraction(r[1]) * s.bound; level < s.sure && x != previous || level < s.alpha(previous, x) {
			return x
		}
	}
	return s.exact(previous, here, random)
}

// alpha returns α(previous, x). What of it is above the bound, returning covers.
func (s *stepper) alpha(previous, x uint32) float64 {
	if x == previous {
		return s.back
	}
	if _, ok := s.g.edge(previous, x); ok {
		return s.near
	}
	return s.far
}

// returning returns the probability to go back before a neighbour is drawn.
// With a small p the way back would need a bound that hardly any other neighbour
// comes near to. So what it has above the bound is a share of its own, beside
// the sum of all weights times the bound (KnightKing's folding of outliers).
func (s *stepper) returning(previous, here uint32) float64 {
	if !s.folded {
		return 0
	}
	at, ok := s.g.edge(here, previous)
	if !ok { // a one-way edge
		return 0
	}
	weight, sum := 1.0, float64(len(s.g.out(here)))
	if s.sums != nil {
		weight, sum = s.g.outWeights(here)[at], s.sums[here]
	}
	share := weight * (s.back - s.bound)
	return share / (share + sum*s.bound)
}

// exact draws from the probabilities of all neighbours.
func (s *stepper) exact(previous, here uint32, random *draws) uint32 {
	out, sums := s.g.out(here), s.cumulative(previous, here)
	r := random.next()
	level := float64(uint64(r[1])<<32|uint64(r[0])) / (1 << 64) * sums[len(sums)-1]
	i := sort.Search(len(out), func(i int) bool { return sums[i] > level })
	return out[min(i, len(out)-1)]
}

// cumulative returns the running sums of w(here,x)·α(previous,x) over the
// neighbours x.
func (s *stepper) cumulative(previous, here uint32) []float64 {
	out, weights, known := s.g.out(here), s.g.outWeights(here), s.g.out(previous)
	sums := make([]float64, len(out))
	sum := 0.0
	for i, x := range out {
		for len(known) > 0 && known[0] < x {
			known = known[1:]
		}
		alpha := s.far
		switch {
		case x == previous:
			alpha = s.back
		case len(known) > 0 && known[0] == x:
			alpha = s.near
		}
		if weights != nil {
			alpha *= weights[i]
		}
		sum += alpha
		sums[i] = sum
	}
	return sums
}

// fraction maps 32 random bits to [0, 1).
func fraction(random uint32) float64 { return float64(random) / (math.MaxUint32 + 1) }
