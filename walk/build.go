package walk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// newGraph makes a graph of edges, which may hold an undirected edge in one direction
// or in both. An edge that occurs again counts once and must have the same weight.
// repeated is the number of edges that occur again. The edges are lost.
//
// It numbers the nodes twice: first by their names, which gives the masses, then by these.
func newGraph(ctx context.Context, e *edges, o ReadOptions) (g *Graph, repeated int, err error) {
	if o.Weighted {
		return build[uint64](ctx, e, o)
	}
	return build[uint32](ctx, e, o)
}

// An arc is an edge in one direction, among those that lead from one node: the number of the node
// that it leads to or, in a weighted graph, this number in the upper half and the bits of the weight in the
// lower. Arcs are thus in the order of their ends.
type arc interface{ uint32 | uint64 }

// endOf returns the node that an arc leads to.
func endOf[A arc](a A) uint32 {
	if unsafe.Sizeof(a) == 8 {
		return uint32(uint64(a) >> 32)
	}
	return uint32(a)
}

// weightOf returns the weight of an arc.
func weightOf[A arc](a A) float32 {
	if unsafe.Sizeof(a) == 8 {
		return math.Float32frombits(uint32(a))
	}
	return 1
}

func newArc[A arc](to uint32, weight float32) A {
	var a A
	if unsafe.Sizeof(a) == 8 {
		return A(uint64(to)<<32 | uint64(math.Float32bits(weight)))
	}
	return A(to)
}

// A builder has the arcs of each node: those of node i begin at starts[i], and are degrees[i].
type builder[A arc] struct {
	directed bool
	threads  int
	names    []string
	arcs     []A
	starts   []int
	degrees  []int
	mass     []float64
}

func build[A arc](ctx context.Context, e *edges, o ReadOptions) (g *Graph, repeated int, err error) {
	b := &builder[A]{directed: o.Directed, threads: o.threads()}
	n, err := e.number(ctx, b.threads)
	if err != nil {
		return nil, 0, err
	}
	const bytesPerNode = 128 // while both numberings are there
	done, err := memory.Room(bytesPerNode * int64(n.count()))
	if err != nil {
		return nil, 0, fmt.Errorf("a graph of %d nodes: %w", n.count(), err)
	}
	defer done()
	if b.names = e.names; b.names == nil {
		if b.names, err = n.names(ctx, b.threads); err != nil {
			return nil, 0, err
		}
	}
	count := e.count()
	if err := b.fill(ctx, e, n); err != nil {
		return nil, 0, fmt.Errorf("a graph of %d edges: %w", count, err)
	}
	e.chunks, e.words = nil, nil
	runtime.GC() // the graph needs their memory, which Go would otherwise notice too late
	if repeated, err = b.unite(ctx); err != nil {
		return nil, 0, err
	}
	if err := b.weigh(ctx); err != nil {
		return nil, 0, err
	}
	g, err = b.byMass(ctx)
	return g, repeated, err
}

// fill takes the arcs of the edges, those of a node in any order. The keys in the edges become numbers.
func (b *builder[A]) fill(ctx context.Context, e *edges, n *numbering) error {
	nodes := n.count()
	next := make([]atomic.Int64, nodes) // degrees, then where the next arc of each node goes
	err := parallel.Do(ctx, b.threads, len(e.chunks), func(k int) {
		c := &e.chunks[k]
		for i := range c.from {
			from, to := n.of(c.from[i]), n.of(c.to[i])
			c.from[i], c.to[i] = uint64(from), uint64(to)
			next[from].Add(1)
			if !b.directed && from != to {
				next[to].Add(1)
			}
		}
	})
	if err != nil {
		return err
	}
	b.starts, b.degrees = make([]int, nodes+1), make([]int, nodes)
	for i := range next {
		b.degrees[i] = int(next[i].Swap(int64(b.starts[i])))
		b.starts[i+1] = b.starts[i] + b.degrees[i]
	}
	var done func()
	if b.arcs, done, err = allocate[A](b.starts[nodes]); err != nil {
		return err
	}
	defer done()
	return parallel.Do(ctx, b.threads, len(e.chunks), func(k int) {
		c := &e.chunks[k]
		for i, key := range c.from {
			from, to, weight := uint32(key), uint32(c.to[i]), float32(1)
			if c.weights != nil {
				weight = c.weights[i]
			}
			b.arcs[next[from].Add(1)-1] = newArc[A](to, weight)
			if !b.directed && from != to {
				b.arcs[next[to].Add(1)-1] = newArc[A](from, weight)
			}
		}
	})
}

// allocate returns memory for count numbers, if there is room for it. The caller calls done when it has written to it.
func allocate[T uint32 | uint64 | float32](count int) (x []T, done func(), err error) {
	var number T
	if done, err = memory.Room(int64(count) * int64(unsafe.Sizeof(number))); err != nil {
		return nil, nil, err
	}
	return make([]T, count), done, nil
}

// eachNode calls visit for the nodes 0 ... nodes-1, each on some goroutine, the worker. Of several errors it returns the first.
func eachNode(ctx context.Context, threads, nodes int, visit func(worker int, node uint32) error) error {
	const blockNodes = 1 << 10
	return parallel.Try(ctx, threads, (nodes+blockNodes-1)/blockNodes, func(worker, k int) error {
		for i := k * blockNodes; i < min((k+1)*blockNodes, nodes); i++ {
			if err := visit(worker, uint32(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// row returns the arcs of a node.
func (b *builder[A]) row(i uint32) []A { return b.arcs[b.starts[i]:][:b.degrees[i]] }

// rows calls visit for all nodes, each on some goroutine, the worker.
func (b *builder[A]) rows(ctx context.Context, visit func(worker int, i uint32) error) error {
	return eachNode(ctx, b.threads, len(b.degrees), visit)
}

// unite sorts the arcs of each node and leaves one of those that are equal.
func (b *builder[A]) unite(ctx context.Context) (repeated int, err error) {
	var again atomic.Int64
	err = b.rows(ctx, func(_ int, i uint32) error {
		row := b.row(i)
		slices.Sort(row)
		for k := 1; k < len(row); k++ {
			to, last := endOf(row[k]), endOf(row[k-1])
			if to != last {
				continue
			}
			if row[k] != row[k-1] {
				return b.errTwoWeights(i, to)
			}
			if b.directed || to >= i { // an undirected one counts at one of its ends
				again.Add(1)
			}
		}
		b.degrees[i] = len(slices.Compact(row))
		return nil
	})
	return int(again.Load()), err
}

// errTwoWeights is the error of an edge that has several weights.
func (b *builder[A]) errTwoWeights(from, to uint32) error {
	var weights []string
	sum := 0.0
	for _, a := range b.row(from) {
		if endOf(a) == to {
			weights, sum = append(weights, fmt.Sprintf("%g", weightOf(a))), sum+float64(weightOf(a))
		}
	}
	advice := "or read the graph as directed"
	if b.directed {
		advice = "or remove all but one"
	}
	return fmt.Errorf("the edge of %s and %s has several weights, %s: give one line with their sum, %g, %s",
		b.names[from], b.names[to], strings.Join(weights, ", "), sum, advice)
}

// weigh computes the masses. The order of the sums does not depend on the threads.
func (b *builder[A]) weigh(ctx context.Context) error {
	b.mass = make([]float64, len(b.degrees))
	if !b.directed { // what leads to a node leads back, in the same order
		return b.rows(ctx, func(_ int, i uint32) error {
			for _, a := range b.row(i) {
				b.mass[i] += float64(weightOf(a))
			}
			return nil
		})
	}
	for i := range b.degrees {
		for _, a := range b.row(uint32(i)) {
			b.mass[endOf(a)] += float64(weightOf(a))
		}
	}
	return ctx.Err()
}

// byMass returns the graph with the nodes in the order of their masses.
func (b *builder[A]) byMass(ctx context.Context) (*Graph, error) {
	nodes := len(b.mass)
	heavy, err := b.heaviest(ctx)
	if err != nil {
		return nil, err
	}
	b.mass = nil // the graph needs its memory
	rank := make([]uint32, nodes)
	g := &Graph{Directed: b.directed, Names: make([]string, nodes), starts: make([]int, nodes+1), mass: make([]float64, nodes)}
	if err := eachNode(ctx, b.threads, nodes, func(_ int, i uint32) error { // memory is read in any order, which waits
		old := heavy[i].node
		rank[old] = i
		g.Names[i], g.mass[i], g.starts[i+1] = b.names[old], heavy[i].mass, b.degrees[old]
		return nil
	}); err != nil {
		return nil, err
	}
	for i := range nodes {
		g.starts[i+1] += g.starts[i]
	}
	return g, b.fillGraph(ctx, g, rank)
}

// A massOf is the mass of a node.
type massOf struct {
	mass float64
	node uint32
}

// heaviest returns the nodes in the order of their masses. Masses lie beside nodes, because a sort that looks them up waits for memory.
func (b *builder[A]) heaviest(ctx context.Context) ([]massOf, error) {
	masses := make([]massOf, len(b.mass))
	for i, mass := range b.mass {
		masses[i] = massOf{mass, uint32(i)}
	}
	return masses, parallel.Sort(ctx, b.threads, masses, func(x, y massOf) int {
		switch {
		case x.mass > y.mass:
			return -1
		case x.mass < y.mass:
			return 1
		default:
			return cmp.Compare(x.node, y.node)
		}
	})
}

// fillGraph sets the edges of the graph, in which rank[i] is the number of node i.
func (b *builder[A]) fillGraph(ctx context.Context, g *Graph, rank []uint32) (err error) {
	edges := g.starts[len(rank)]
	var done func()
	if g.ends, done, err = allocate[uint32](edges); err != nil {
		return err
	}
	defer done()
	var a A
	if unsafe.Sizeof(a) == 8 {
		var done func()
		if g.weights, done, err = allocate[float32](edges); err != nil {
			return err
		}
		defer done()
	}
	rows := make([][]A, b.threads)
	var loops atomic.Int64
	err = b.rows(ctx, func(worker int, node uint32) error {
		row := rows[worker][:0]
		i := rank[node]
		for _, a := range b.row(node) {
			row = append(row, newArc[A](rank[endOf(a)], weightOf(a)))
		}
		rows[worker] = row
		slices.Sort(row)
		for k, a := range row {
			at := g.starts[i] + k
			if g.ends[at] = endOf(a); g.weights != nil {
				g.weights[at] = weightOf(a)
			}
			if endOf(a) == i {
				loops.Add(1)
			}
		}
		return nil
	})
	g.loops = int(loops.Load())
	return err
}
