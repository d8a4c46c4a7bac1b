package walk

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Graph of V nodes and the edges between them. An undirected edge is there in
// both directions. It is not changed after it was made.
type Graph struct {
	Names    []string // of the nodes, V of them
	Directed bool

	starts  []int     // V+1: targets[starts[i]:starts[i+1]] are the nodes that i has edges to
	targets []uint32  // in rising order for each node
	weights []float64 // beside targets; nil: all 1
}

// out returns the nodes that a node has edges to, in rising order.
func (g *Graph) out(node uint32) []uint32 {
	return g.targets[g.starts[node]:g.starts[node+1]]
}

// outWeights returns the weights of the edges to out(node), nil if all are 1.
func (g *Graph) outWeights(node uint32) []float64 {
	if g.weights == nil {
		return nil
	}
	return g.weights[g.starts[node]:g.starts[node+1]]
}

// edge returns where in out(from) the other node is.
func (g *Graph) edge(from, to uint32) (at int, ok bool) {
	return slices.BinarySearch(g.out(from), to)
}

// Edges returns the number of edges; an undirected one counts once.
func (g *Graph) Edges() int {
	if g.Directed {
		return len(g.targets)
	}
	return (len(g.targets) + g.Loops()) / 2
}

// Loops returns the number of edges from a node to itself.
func (g *Graph) Loops() int {
	loops := 0
	for i := range g.Names {
		if _, ok := g.edge(uint32(i), uint32(i)); ok {
			loops++
		}
	}
	return loops
}

// Alone returns the number of nodes from which no edge leads on.
func (g *Graph) Alone() int {
	alone := 0
	for i := range g.Names {
		if g.starts[i] == g.starts[i+1] {
			alone++
		}
	}
	return alone
}

// maxNodes leaves a number that is no node, for randomness that belongs to none.
const maxNodes = math.MaxUint32

// An arc is an edge in one direction, as it was read; place is its line. Of a
// matrix the entries are the lines.
type arc struct {
	from, to uint32
	weight   float64
	place    int
}

// newGraph makes a graph of edges; those of an undirected graph may be given in
// one direction or both. An edge that comes again counts once, and repeated says
// how many lines that were. It must have the weight it had before.
func newGraph(names []string, arcs []arc, directed, weighted bool) (g *Graph, repeated int, err error) {
	g = &Graph{Names: names, Directed: directed, starts: make([]int, len(names)+1)}
	count := func(a arc) { g.starts[a.from+1]++ }
	bothWays(arcs, directed, count)
	for i := range names {
		g.starts[i+1] += g.starts[i]
	}
	sorted := make([]arc, g.starts[len(names)])
	next := slices.Clone(g.starts)
	bothWays(arcs, directed, func(a arc) {
		sorted[next[a.from]] = a
		next[a.from]++
	})
	g.targets = make([]uint32, 0, len(sorted))
	if weighted {
		g.weights = make([]float64, 0, len(sorted))
	}
	places := make(map[int]struct{}) // of edges that came again
	for i := range names {
		own := sorted[g.starts[i]:g.starts[i+1]]
		slices.SortFunc(own, func(a, b arc) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.place, b.place)) })
		g.starts[i] = len(g.targets)
		for k, a := range own {
			if k == 0 || a.to != own[k-1].to {
				g.targets = append(g.targets, a.to)
				if weighted {
					g.weights = append(g.weights, a.weight)
				}
				continue
			}
			places[a.place] = struct{}{}
			if before := own[k-1]; weighted && a.weight != before.weight {
				return nil, 0, fmt.Errorf("the edge of %s and %s has two weights, %g and %g (lines %d and %d): give it one, or say that edges are directed",
					names[a.from], names[a.to], before.weight, a.weight, before.place, a.place)
			}
		}
	}
	g.starts[len(names)] = len(g.targets)
	return g, len(places), nil
}

// bothWays calls f with every edge, and with its opposite if the graph is
// undirected. A loop is its own opposite.
func bothWays(arcs []arc, directed bool, f func(arc)) {
	for _, a := range arcs {
		f(a)
		if !directed && a.from != a.to {
			a.from, a.to = a.to, a.from
			f(a)
		}
	}
}
