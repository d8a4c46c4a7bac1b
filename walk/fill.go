package walk

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A filler sorts the edges of a list by the nodes that they lead from. Sorting all edges at once would wait for memory at every edge. So the filler
// sorts twice, each time no more than a processor's cache holds, up to 2 million nodes; beyond that, ranges grow. It sorts the arcs of each chunk by
// ranges of nodes, then the arcs of each range by nodes.
type filler[A arc] struct {
	*builder[A]
	edges  *edges
	number *numbering

	shift  int        // range k has the nodes k<<shift ... (k+1)<<shift - 1
	bounds [][]uint32 // of each chunk: where the arcs of each range begin, and where the last ones end

	rangeStarts []int // where the arcs of each range begin in the graph, and where the last ones end

	extra store // of the weights of arcs that lead back, until all arcs are there
	most  int   // arcs of a group, unless one range alone has more
}

const (
	mostRanges = 1 << 9  // each takes 4 bytes in each chunk
	leastShift = 12      // a smaller range would not be faster
	mostEdges  = 1 << 15 // of a chunk that is sorted
)

// rangeShift returns the shift for so many nodes.
func rangeShift(nodes int) int { return max(leastShift, bits.Len(uint(nodes-1)/mostRanges)) }

// fill takes the arcs of a list of edges. The list is lost.
func (b *builder[A]) fill(ctx context.Context, e *edges, n *numbering) (err error) {
	nodes := n.count()
	b.starts, b.degrees = make([]int, nodes+1), make([]int, nodes)
	f := &filler[A]{builder: b, edges: e, number: n, shift: rangeShift(nodes)}
	f.rangeStarts = make([]int, (nodes-1)>>f.shift+2)
	f.extra.folder, f.extra.always = b.store.folder, b.store.always
	defer func() { err = errors.Join(err, f.extra.close()) }()
	if err := f.sortChunks(ctx); err != nil {
		return err
	}
	for k := range f.rangeStarts[1:] {
		f.rangeStarts[k+1] = f.rangeStarts[k]
		for _, bounds := range f.bounds {
			f.rangeStarts[k+1] += int(bounds[k+1] - bounds[k])
		}
	}
	if b.arcs, err = allocate[A](b.store, f.rangeStarts[len(f.rangeStarts)-1]); err != nil {
		return err
	}
	f.most = f.mostArcs()
	groups := f.groups()
	err = parallel.Try(ctx, b.threads, len(groups)-1, func(_, k int) error {
		return f.fillRanges(ctx, groups[k], groups[k+1])
	})
	b.store.settle()
	return err
}

// mostArcs returns the most arcs of a group of several ranges. In memory, each range is a group. In files, a group has as many ranges as there is
// memory for, because reading a little of every chunk is slow.
func (f *filler[A]) mostArcs() int {
	var a A
	switch {
	case !f.store.inFiles() && !f.edges.store.inFiles() && !f.extra.inFiles():
		return 0
	case f.together > 0:
		return f.together
	default:
		return int(max(memory.Left()/4, 8<<20)/int64(unsafe.Sizeof(a))) / f.threads
	}
}

// groups returns where groups of ranges begin, and where the last one ends. The ranges of a group are filled together.
func (f *filler[A]) groups() []int {
	ranges := len(f.rangeStarts) - 1
	groups := []int{0}
	for k := 1; k < ranges; k++ {
		if f.rangeStarts[k+1]-f.rangeStarts[groups[len(groups)-1]] > f.most {
			groups = append(groups, k)
		}
	}
	return append(groups, ranges)
}

// sortChunks gives the nodes their first numbers and sorts the arcs of each chunk by ranges, in the memory of the chunk.
func (f *filler[A]) sortChunks(ctx context.Context) error {
	e := f.edges
	e.cut(mostEdges)
	const sorterBytes = 2 * mostEdges * (8 + 4) // arcs and weights of both ways
	boundsBytes := 4 * len(f.rangeStarts) * len(e.chunks)
	done, err := memory.Room(int64(boundsBytes + min(f.threads, len(e.chunks))*sorterBytes))
	if err != nil {
		return err
	}
	defer done()
	if err := f.takeBackWeights(); err != nil {
		return err
	}
	f.bounds = make([][]uint32, len(e.chunks))
	sorters := make([]chunkSorter, f.threads)
	err = parallel.Try(ctx, f.threads, len(e.chunks), func(worker, k int) error {
		f.bounds[k] = f.sortChunk(&e.chunks[k], &sorters[worker])
		e.store.giveBack()
		f.extra.giveBack()
		return nil
	})
	f.extra.settle()
	return err
}

// takeBackWeights allocates the weights of arcs that lead back, one for each edge. Directed graphs have no such arcs.
func (f *filler[A]) takeBackWeights() error {
	var a A
	if unsafe.Sizeof(a) == 4 || f.directed {
		return nil
	}
	all, err := allocate[float32](&f.extra, f.edges.count())
	if err != nil {
		return err
	}
	for k := range f.edges.chunks {
		if c := &f.edges.chunks[k]; c.weights != nil {
			c.backWeights, all = all[:len(c.from)], all[len(c.from):]
		}
	}
	return nil
}

// cut cuts chunks of more edges into several.
func (e *edges) cut(most int) {
	var chunks []edgeChunk
	for _, c := range e.chunks {
		for len(c.from) > most {
			head := edgeChunk{from: c.from[:most], to: c.to[:most]}
			c.from, c.to = c.from[most:], c.to[most:]
			if c.weights != nil {
				head.weights, c.weights = c.weights[:most], c.weights[most:]
			}
			chunks = append(chunks, head)
		}
		chunks = append(chunks, c)
	}
	e.chunks = chunks
}

// A chunkSorter is the memory that sorting a chunk takes.
type chunkSorter struct {
	next    []uint32 // the place of the next arc of each range
	arcs    []uint64 // the first node in the upper half, the one that it leads to in the lower
	weights []float32
}

// sortChunk replaces the edges of a chunk by their arcs, sorted by ranges: first those in from, with their weights in weights, then those in to,
// with their weights in backWeights. It returns where the arcs of each range begin, and where the last ones end.
func (f *filler[A]) sortChunk(c *edgeChunk, s *chunkSorter) []uint32 {
	bounds := make([]uint32, len(f.rangeStarts))
	for i, key := range c.from {
		from, to := f.number.of(key), f.number.of(c.to[i])
		c.from[i] = uint64(from)<<32 | uint64(to)
		bounds[from>>f.shift+1]++
		if !f.directed && from != to {
			bounds[to>>f.shift+1]++
		}
	}
	for k := range bounds[1:] {
		bounds[k+1] += bounds[k]
	}
	count := int(bounds[len(bounds)-1])
	s.next = append(s.next[:0], bounds...)
	s.arcs = slices.Grow(s.arcs[:0], count)[:count]
	if c.weights != nil {
		s.weights = slices.Grow(s.weights[:0], count)[:count]
	}
	for i, arc := range c.from {
		s.add(c, i, arc, f.shift)
		if back := bits.RotateLeft64(arc, 32); !f.directed && arc != back {
			s.add(c, i, back, f.shift)
		}
	}
	copy(c.to, s.arcs[copy(c.from, s.arcs):])
	if c.weights != nil {
		copy(c.backWeights, s.weights[copy(c.weights, s.weights):])
	}
	return bounds
}

// add puts an arc of edge i of a chunk into its place.
func (s *chunkSorter) add(c *edgeChunk, i int, arc uint64, shift int) {
	at := &s.next[arc>>32>>shift]
	if s.arcs[*at] = arc; c.weights != nil {
		s.weights[*at] = c.weights[i]
	}
	*at++
}

// fillRanges sorts the arcs of the ranges first ... end-1 by nodes.
func (f *filler[A]) fillRanges(ctx context.Context, first, end int) error {
	low, high := first<<f.shift, min(end<<f.shift, len(f.degrees))
	degrees, next := f.degrees[low:high], f.starts[low+1:high+1]
	err := f.eachPart(ctx, first, end, func(arcs []uint64, _ []float32) {
		for _, arc := range arcs {
			degrees[int(arc>>32)-low]++
		}
	})
	if err != nil {
		return err
	}
	at := f.rangeStarts[first]
	for i, degree := range degrees {
		next[i] = at // until the arcs are there; then it is where the arcs of the next node start
		at += degree
	}
	err = f.eachPart(ctx, first, end, func(arcs []uint64, weights []float32) {
		for k, arc := range arcs {
			weight := float32(1)
			if weights != nil {
				weight = weights[k]
			}
			place := &next[int(arc>>32)-low]
			f.arcs[*place] = newArc[A](uint32(arc), weight)
			*place++
		}
	})
	f.store.giveBack()
	return err
}

// eachPart calls visit with all arcs of the ranges first ... end-1, and their weights, a part of a chunk at a time.
func (f *filler[A]) eachPart(ctx context.Context, first, end int, visit func(arcs []uint64, weights []float32)) error {
	visited := 0 // arcs, since f.store last gave its memory back
	for k, c := range f.edges.chunks {
		from, to := int(f.bounds[k][first]), int(f.bounds[k][end])
		visitPart(c.from, c.weights, from, min(to, len(c.from)), visit)
		visitPart(c.to, c.backWeights, max(from-len(c.from), 0), to-len(c.from), visit)
		if visited += to - from; visited > f.most { // one range alone has more than a group may have
			f.store.giveBack()
			visited = 0
		}
		f.edges.store.giveBack()
		f.extra.giveBack()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// visitPart calls visit with the arcs from ... to-1, and their weights, if there are such arcs.
func visitPart(arcs []uint64, weights []float32, from, to int, visit func(arcs []uint64, weights []float32)) {
	switch {
	case from >= to:
	case weights == nil:
		visit(arcs[from:to], nil)
	default:
		visit(arcs[from:to], weights[from:to])
	}
}
