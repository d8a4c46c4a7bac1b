package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
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
	places   []uint32 // of the names in their order; nil: they are in order
	store    *store   // of the arcs
	together int      // as ReadOptions.together
}

func build[A arc](ctx context.Context, e *edges, o ReadOptions) (g *Graph, repeated int, err error) {
	b := &builder[A]{directed: o.Directed, threads: o.threads(), store: &store{folder: o.Folder, always: o.always}, together: o.together}
	defer func() { _ = b.store.close() }() // nothing in it is needed any more
	done, err := b.take(ctx, e)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	if repeated, err = b.unite(ctx); err != nil {
		return nil, 0, err
	}
	if err := b.weigh(ctx); err != nil {
		return nil, 0, err
	}
	g, err = b.byMass(ctx)
	return g, repeated, err
}

// take takes the arcs of all nodes. done is to be called when the graph is there, unless there is an error.
func (b *builder[A]) take(ctx context.Context, e *edges) (done func(), err error) {
	defer func() {
		if err != nil && done != nil {
			done()
		}
	}()
	if e.rows != nil && !b.directed {
		symmetric, err := e.rows.symmetric(ctx, b.threads, &e.store)
		if err == nil && !symmetric {
			err = e.spread()
		}
		if err != nil {
			return nil, err
		}
	}
	room := func(nodes int) (err error) {
		const bytesPerNode = 128 // while both numberings are there
		if done, err = memory.Room(bytesPerNode * int64(nodes)); err != nil {
			return fmt.Errorf("a graph of %d nodes: %w", nodes, err)
		}
		return nil
	}
	if e.rows != nil {
		if err := room(len(e.rows.starts) - 1); err != nil {
			return nil, err
		}
		return done, b.fromRows(ctx, e)
	}
	n, err := e.number(ctx, b.threads)
	if err == nil {
		err = room(n.count())
	}
	if err != nil {
		return nil, err
	}
	if b.names, err = n.namesOf(ctx, b.threads, e); err != nil {
		return nil, err
	}
	count := e.count()
	if err := b.fill(ctx, e, n); err != nil {
		return nil, fmt.Errorf("a graph of %d edges: %w", count, err)
	}
	e.chunks, e.words = nil, nil
	runtime.GC() // the graph needs their memory, which Go would otherwise notice too late
	return done, e.store.close()
}

// row returns the arcs of a node.
func (b *builder[A]) row(i uint32) []A { return b.arcs[b.starts[i]:][:b.degrees[i]] }

// rows calls visit for all nodes, each on some goroutine, the worker.
func (b *builder[A]) rows(ctx context.Context, visit func(worker int, i uint32) error) error {
	return eachNode(ctx, b.threads, len(b.degrees), b.store, visit)
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
				return fmt.Errorf("the edge of %s and %s has two weights, %g and %g: remove one, or read the graph as directed",
					b.names[i], b.names[to], weightOf(row[k-1]), weightOf(row[k]))
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
		if i%8 == 7 {
			b.store.giveBack()
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
	if err := eachNode(ctx, b.threads, nodes, nil, func(_ int, i uint32) error { // memory is read in any order, which waits
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
	if err := b.fillGraph(ctx, g, heavy, rank); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
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
		case b.places != nil:
			return cmp.Compare(b.places[x.node], b.places[y.node])
		default:
			return cmp.Compare(x.node, y.node)
		}
	})
}

// fillGraph sets the edges of the graph, in which rank[i] is the number of node i. heavy has all nodes in the order of these numbers.
func (b *builder[A]) fillGraph(ctx context.Context, g *Graph, heavy []massOf, rank []uint32) (err error) {
	g.store = &store{folder: b.store.folder, always: b.store.always}
	if g.ends, err = allocate[uint32](g.store, g.starts[len(heavy)]); err != nil {
		return err
	}
	var a A
	if unsafe.Sizeof(a) == 8 {
		if g.weights, err = allocate[float32](g.store, len(g.ends)); err != nil {
			return err
		}
	}
	nodeAt := func(turn uint32) uint32 { return turn } // reading in order is faster than writing in order, because only reading waits for memory
	if g.store.inFiles() {
		nodeAt = func(turn uint32) uint32 { return heavy[turn].node } // but in files whole pages are written
	}
	rows := make([][]A, b.threads)
	var loops atomic.Int64
	err = b.rows(ctx, func(worker int, turn uint32) error {
		node, row := nodeAt(turn), rows[worker][:0]
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
		if turn%8 == 7 {
			g.store.giveBack()
		}
		return nil
	})
	g.loops = int(loops.Load())
	g.store.settle()
	return err
}
