package walk

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Graph has V nodes and edges between them. It stores an undirected edge in both
// directions. [Read] makes it; nothing changes it afterwards.
type Graph struct {
	Names    []string // of the V nodes
	Directed bool

	starts  []int     // V+1 values: ends[starts[i]:starts[i+1]] are the neighbours of node i
	ends    []uint32  // in rising order for each node
	weights []float64 // of the edges, in the order of ends; nil: all are 1
}

// neighbours returns the nodes to which edges lead from a node, in rising order.
func (g *Graph) neighbours(node uint32) []uint32 {
	return g.ends[g.starts[node]:g.starts[node+1]]
}

// edgeWeights returns the weights of the edges to neighbours(node), or nil if all are
// 1.
func (g *Graph) edgeWeights(node uint32) []float64 {
	if g.weights == nil {
		return nil
	}
	return g.weights[g.starts[node]:g.starts[node+1]]
}

// edge reports whether an edge leads from one node to the other. at is its position
// in neighbours(from).
func (g *Graph) edge(from, to uint32) (at int, ok bool) {
	return slices.BinarySearch(g.neighbours(from), to)
}

// Edges returns the number of edges. An undirected edge counts once.
func (g *Graph) Edges() int {
	if g.Directed {
		return len(g.ends)
	}
	return (len(g.ends) + g.Loops()) / 2
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

// DeadEnds returns the number of nodes without neighbours, where walks end.
func (g *Graph) DeadEnds() int {
	deadEnds := 0
	for i := range g.Names {
		if g.starts[i] == g.starts[i+1] {
			deadEnds++
		}
	}
	return deadEnds
}

// maxNodes is less than 2^32: shuffle draws its random numbers under a number that
// no node has.
const maxNodes = math.MaxUint32

// An arc is an edge in one direction, as read from a file.
type arc struct {
	from, to uint32
	weight   float64
	line     int // of the file; the number of the entry in a matrix; both from 1
}

// newGraph makes a graph of edges. arcs may hold an undirected edge in one direction
// or in both. An edge that occurs again counts once and must have the same weight.
// repeated is the number of lines with such edges.
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
	g.ends = make([]uint32, 0, len(sorted))
	if weighted {
		g.weights = make([]float64, 0, len(sorted))
	}
	repeatedLines := make(map[int]struct{})
	for i := range names {
		own := sorted[g.starts[i]:g.starts[i+1]]
		slices.SortFunc(own, func(a, b arc) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.line, b.line)) })
		g.starts[i] = len(g.ends)
		for k, a := range own {
			if k == 0 || a.to != own[k-1].to {
				g.ends = append(g.ends, a.to)
				if weighted {
					g.weights = append(g.weights, a.weight)
				}
				continue
			}
			repeatedLines[a.line] = struct{}{}
			if before := own[k-1]; weighted && a.weight != before.weight {
				return nil, 0, fmt.Errorf("the edge of %s and %s has two weights, %g and %g (lines %d and %d): remove one, or read the graph as directed",
					names[a.from], names[a.to], before.weight, a.weight, before.line, a.line)
			}
		}
	}
	g.starts[len(names)] = len(g.ends)
	return g, len(repeatedLines), nil
}

// bothWays calls f with every edge. For an undirected graph it also calls f with the
// opposite direction, except for loops.
func bothWays(arcs []arc, directed bool, f func(arc)) {
	for _, a := range arcs {
		f(a)
		if !directed && a.from != a.to {
			a.from, a.to = a.to, a.from
			f(a)
		}
	}
}
