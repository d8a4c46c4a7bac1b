package walk

import (
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Graph has V nodes and edges between them. It stores an undirected edge in both
// directions. [Read] makes it; nothing changes it afterwards.
//
// The nodes are numbered by their mass: the number of edges that lead to a node or, in a
// weighted graph, the sum of their weights. Node 0 has the largest mass. Nodes of equal mass
// are in the order of their names, numbers before words. So neither the order of the
// lines in a file nor the number of threads changes a graph.
type Graph struct {
	Names    []string // of the V nodes
	Directed bool
	Layout   string // how the file was read, in words; "" for a part of a graph

	starts  []int     // V+1 values: ends[starts[i]:starts[i+1]] are the neighbours of node i
	ends    []uint32  // in rising order for each node
	weights []float32 // of the edges, in the order of ends; nil: all are 1
	mass    []float64 // V values, in falling order
	loops   int       // edges from a node to itself
}

// neighbours returns the nodes to which edges lead from a node, in rising order.
func (g *Graph) neighbours(node uint32) []uint32 {
	return g.ends[g.starts[node]:g.starts[node+1]]
}

// edgeWeights returns the weights of the edges to neighbours(node), or nil if all are
// 1.
func (g *Graph) edgeWeights(node uint32) []float32 {
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
func (g *Graph) Loops() int { return g.loops }

// deadEnds returns the number of nodes without neighbours, where walks end. Only directed graphs have them.
func (g *Graph) deadEnds() int {
	deadEnds := 0
	for i := range g.Names {
		if g.starts[i] == g.starts[i+1] {
			deadEnds++
		}
	}
	return deadEnds
}

// NoteDeadEnds tells the user about nodes without neighbours; "" if there are none.
func (g *Graph) NoteDeadEnds() string {
	n := g.deadEnds()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("walks end at %s: no edge leads on from there", terminal.Quantity(terminal.Number(n), "node"))
}

// maxNodes is less than 2^31, because the order of the nodes in a round is a [simd.Bijection].
const maxNodes = math.MaxInt32
