package walk

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Pair of nodes, to score predictions of edges.
type Pair struct {
	From, To uint32
	Edge     bool // the whole graph has an edge from From to To
}

// HoldOut takes a fraction of the edges out of the graph for link prediction. pairs are
// these edges, then as many different pairs of nodes without an edge, drawn at
// random. rest is the graph without the edges. It has all nodes, and nodes that were
// connected stay connected: HoldOut keeps a random spanning tree of each part and
// takes edges at random from the others (Grover and Leskovec 2016, section 4.4). It
// keeps all loops.
//
// Errors: a fraction that is not between 0 and 1, no edge in it, too few edges
// beside the trees, too few pairs without an edge.
func (g *Graph) HoldOut(ctx context.Context, fraction float64, seed uint64) (rest *Graph, pairs []Pair, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, fmt.Errorf("hold out: the fraction %g of the edges is not between 0 and 1", fraction)
	}
	random := newNumbers(seed, holdOutRound, 0)
	all := g.edges()
	order := memory.Sequence[int](len(all.from))
	for i := len(order) - 1; i > 0; i-- {
		j := random.below(uint64(i + 1))
		order[i], order[j] = order[j], order[i]
	}
	want := int(math.Round(fraction * float64(len(order))))
	var kept edgeChunk
	joined := components(memory.Sequence[uint32](len(g.Names))) // of one node each
	for _, i := range order {
		from, to := uint32(all.from[i]), uint32(all.to[i])
		if !joined.join(from, to) && from != to && len(pairs) < want {
			pairs = append(pairs, Pair{from, to, true})
			continue
		}
		kept.from, kept.to = append(kept.from, all.from[i]), append(kept.to, all.to[i])
		if g.weights != nil {
			kept.weights = append(kept.weights, all.weights[i])
		}
	}
	if want == 0 || len(pairs) < want {
		return nil, nil, fmt.Errorf("hold out: %d of %d edges are to be held out, but only %d can be held out without dividing the graph", want, len(order), len(pairs))
	}
	if pairs, err = g.addNonEdges(pairs, &random); err != nil {
		return nil, nil, err
	}
	e := &edges{words: &wordTable{}, chunks: []edgeChunk{kept}}
	e.rename(g.Names)
	rest, _, err = newGraph(ctx, e, ReadOptions{Directed: g.Directed, Weighted: g.weights != nil})
	return rest, pairs, err
}

// edges returns the edges, an undirected one once. The keys are the numbers of the nodes.
func (g *Graph) edges() (c edgeChunk) {
	for i := range uint32(len(g.Names)) {
		weights := g.edgeWeights(i)
		for k, to := range g.neighbours(i) {
			if !g.Directed && to < i {
				continue
			}
			c.from, c.to = append(c.from, uint64(i)), append(c.to, uint64(to))
			if weights != nil {
				c.weights = append(c.weights, weights[k])
			}
		}
	}
	return c
}

// addNonEdges appends as many pairs without an edge as pairs holds.
func (g *Graph) addNonEdges(pairs []Pair, random *numbers) ([]Pair, error) {
	nodes, want := uint64(len(g.Names)), len(pairs)
	all := nodes * (nodes - 1)
	if !g.Directed {
		all /= 2
	}
	if free := all - uint64(g.Edges()-g.Loops()); free < 2*uint64(want) { // random draws would hardly find the last ones
		return nil, fmt.Errorf("hold out: %d pairs without an edge are to be drawn, but there are only %d such pairs; hold out fewer edges", want, free)
	}
	drawn := make(map[Pair]struct{}, want)
	for len(drawn) < want {
		p := Pair{From: uint32(random.below(nodes)), To: uint32(random.below(nodes))}
		if p.From > p.To && !g.Directed {
			p.From, p.To = p.To, p.From
		}
		if _, ok := g.edge(p.From, p.To); ok || p.From == p.To {
			continue
		}
		if _, ok := drawn[p]; !ok {
			drawn[p] = struct{}{}
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// below returns a random number below a limit.
func (n *numbers) below(limit uint64) uint64 {
	high, _ := bits.Mul64(n.next64(), limit)
	return high
}

// WritePairs writes pairs of nodes to w. A line has two nodes, and 1 if there is an
// edge between them, else 0. The first line is a comment.
func (g *Graph) WritePairs(w io.Writer, pairs []Pair) error {
	b := bufio.NewWriter(w)
	b.WriteString("# node node edge\n")
	for _, p := range pairs {
		edge := " 0"
		if p.Edge {
			edge = " 1"
		}
		g.writeLine(b, p.From, p.To, edge)
	}
	return b.Flush()
}

// WriteEdges writes the edges to w, as a list that [Read] reads: below a comment and titles, lines of two nodes and, in a weighted graph, a weight.
func (g *Graph) WriteEdges(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("# node node\nsource target")
	if g.weights != nil {
		b.WriteString(" weight")
	}
	b.WriteByte('\n')
	c := g.edges()
	for i, from := range c.from {
		weight := ""
		if g.weights != nil {
			weight = " " + strconv.FormatFloat(float64(c.weights[i]), 'g', -1, 32)
		}
		g.writeLine(b, uint32(from), uint32(c.to[i]), weight)
	}
	return b.Flush()
}

// writeLine writes a line with two nodes and what follows. Names that would begin a comment stand within quotation marks.
func (g *Graph) writeLine(b *bufio.Writer, from, to uint32, rest string) {
	for i, node := range []uint32{from, to} {
		name := g.Names[node]
		if strings.ContainsAny(name[:1], `"#%/`) {
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		b.WriteString(" "[:i])
		b.WriteString(name)
	}
	b.WriteString(rest)
	b.WriteByte('\n')
}

// Named returns the names of the ends of all edges, an undirected one once.
func (g *Graph) Named() iter.Seq2[string, string] {
	return func(yield func(from, to string) bool) {
		for i := range uint32(len(g.Names)) {
			for _, to := range g.neighbours(i) {
				if (g.Directed || to >= i) && !yield(g.Names[i], g.Names[to]) {
					return
				}
			}
		}
	}
}

// components knows which nodes are connected (union-find). It maps a node to another of
// the same component, or to itself.
type components []uint32

// find returns the node that stands for the component of node i.
func (p components) find(i uint32) uint32 {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

// join connects two nodes and reports whether they were in different components.
func (p components) join(a, b uint32) bool {
	a, b = p.find(a), p.find(b)
	p[a] = b
	return a != b
}
