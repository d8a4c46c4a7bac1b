package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
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
}

func build[A arc](ctx context.Context, e *edges, o ReadOptions) (g *Graph, repeated int, err error) {
	b := &builder[A]{directed: o.Directed, threads: o.threads(), store: &store{folder: o.Folder, always: o.always}}
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
		const bytesPerNode = 128 // while both orders are there
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
	b.names = n.namesOf(e)
	count := e.count()
	if err := b.fill(ctx, e, n); err != nil {
		return nil, fmt.Errorf("a graph of %d edges: %w", count, err)
	}
	e.chunks, e.words = nil, nil // the graph needs their memory
	return done, e.store.close()
}

// fill sorts the edges by the nodes that they lead from.
func (b *builder[A]) fill(ctx context.Context, e *edges, n *numbering) error {
	b.starts, b.degrees = make([]int, n.count()+1), make([]int, n.count())
	next := make([]atomic.Int64, n.count())
	bothWays := func(visit func(from, to uint32, weight float32)) error {
		return e.each(ctx, b.threads, func(fromKey, toKey uint64, weight float32) {
			from, to := n.of(fromKey), n.of(toKey)
			visit(from, to, weight)
			if !b.directed && from != to {
				visit(to, from, weight)
			}
		})
	}
	if err := bothWays(func(from, _ uint32, _ float32) { next[from].Add(1) }); err != nil {
		return err
	}
	for i := range next {
		b.degrees[i] = int(next[i].Load())
		b.starts[i+1] = b.starts[i] + b.degrees[i]
		next[i].Store(int64(b.starts[i]))
	}
	var err error
	if b.arcs, err = allocate[A](b.store, b.starts[len(next)]); err != nil {
		return err
	}
	for first := 0; first < len(next); {
		end := b.rangeFrom(first)
		err := bothWays(func(from, to uint32, weight float32) {
			if int(from) >= first && int(from) < end {
				b.arcs[next[from].Add(1)-1] = newArc[A](to, weight)
			}
		})
		if err != nil {
			return err
		}
		b.store.giveBack()
		first = end
	}
	return nil
}

// rangeFrom returns the end of the nodes whose arcs are filled in together: of all, or of so many as fit into memory.
func (b *builder[A]) rangeFrom(first int) (end int) {
	if !b.store.inFiles() {
		return len(b.degrees)
	}
	var a A
	most := int(max(memory.Left()/4, 8<<20) / int64(unsafe.Sizeof(a)))
	end = first + sort.Search(len(b.degrees)-first, func(k int) bool { return b.starts[first+k+1]-b.starts[first] > most })
	return max(end, first+1)
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
	order, rank := make([]uint32, nodes), make([]uint32, nodes)
	for i := range order {
		order[i] = uint32(i)
	}
	place := func(x uint32) uint32 {
		if b.places != nil {
			return b.places[x]
		}
		return x
	}
	if err := parallel.Sort(ctx, b.threads, order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(b.mass[y], b.mass[x]), cmp.Compare(place(x), place(y)))
	}); err != nil {
		return nil, err
	}
	g := &Graph{Directed: b.directed, Names: make([]string, nodes), starts: make([]int, nodes+1), mass: make([]float64, nodes)}
	if err := eachNode(ctx, b.threads, nodes, nil, func(_ int, i uint32) error { // memory is read in any order, which waits
		old := order[i]
		rank[old] = i
		g.Names[i], g.mass[i], g.starts[i+1] = b.names[old], b.mass[old], b.degrees[old]
		return nil
	}); err != nil {
		return nil, err
	}
	for i := range order {
		g.starts[i+1] += g.starts[i]
	}
	if err := b.fillGraph(ctx, g, order, rank); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// fillGraph sets the edges of the graph, in which rank[i] is the number of node i, and order the opposite.
func (b *builder[A]) fillGraph(ctx context.Context, g *Graph, order, rank []uint32) (err error) {
	g.store = &store{folder: b.store.folder, always: b.store.always}
	if g.ends, err = allocate[uint32](g.store, g.starts[len(order)]); err != nil {
		return err
	}
	var a A
	if unsafe.Sizeof(a) == 8 {
		if g.weights, err = allocate[float32](g.store, len(g.ends)); err != nil {
			return err
		}
	}
	rows := make([][]A, b.threads)
	var loops atomic.Int64
	err = b.rows(ctx, func(worker int, i uint32) error {
		row := rows[worker][:0]
		for _, a := range b.row(order[i]) {
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
		if i%8 == 7 {
			g.store.giveBack()
		}
		return nil
	})
	g.loops = int(loops.Load())
	g.store.settle()
	return err
}
