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
// sorts twice, each time no more than a processor's cache holds: the arcs of each chunk by ranges of nodes, then the arcs of each range by nodes.
type filler[A arc] struct {
	*builder[A]
	edges  *edges
	number *numbering

	shift  int        // range k has the nodes k<<shift ... (k+1)<<shift - 1
	bounds [][]uint32 // of each chunk: where the arcs of each range begin, and where the last ones end
	begins []int      // where the arcs of each range begin in the graph, and where the last ones end

	extra store // of weights, until the arcs are there
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
	f.begins = make([]int, (nodes-1)>>f.shift+2)
	f.extra.folder, f.extra.always = b.store.folder, b.store.always
	defer func() { err = errors.Join(err, f.extra.close()) }()
	if err := f.sortChunks(ctx); err != nil {
		return err
	}
	for k := range f.begins[1:] {
		f.begins[k+1] = f.begins[k]
		for _, bounds := range f.bounds {
			f.begins[k+1] += int(bounds[k+1] - bounds[k])
		}
	}
	if b.arcs, err = allocate[A](b.store, f.begins[len(f.begins)-1]); err != nil {
		return err
	}
	groups := f.groups()
	err = parallel.Try(ctx, b.threads, len(groups)-1, func(_, k int) error {
		return f.fillRanges(ctx, groups[k], groups[k+1])
	})
	b.store.settle()
	return err
}

// groups returns where groups of ranges begin, and where the last one ends. The ranges of a group are filled together. In memory, each range is a
// group. In files, a group has as many ranges as there is memory for, because reading a little of every chunk is slow.
func (f *filler[A]) groups() []int {
	var a A
	ranges, most := len(f.begins)-1, 0
	if f.store.inFiles() {
		most = int(max(memory.Left()/4, 8<<20)/int64(unsafe.Sizeof(a))) / f.threads
	}
	groups := []int{0}
	for k := 1; k < ranges; k++ {
		if f.begins[k+1]-f.begins[groups[len(groups)-1]] > most {
			groups = append(groups, k)
		}
	}
	return append(groups, ranges)
}

// sortChunks gives the nodes their first numbers and sorts the arcs of each chunk by ranges, in the memory of the chunk.
func (f *filler[A]) sortChunks(ctx context.Context) error {
	e := f.edges
	e.cut(mostEdges)
	weights, err := f.weightsOfBothWays()
	if err != nil {
		return err
	}
	f.bounds = make([][]uint32, len(e.chunks))
	sorters := make([]chunkSorter, f.threads)
	err = parallel.Try(ctx, f.threads, len(e.chunks), func(worker, k int) error {
		var room []float32
		if weights != nil {
			room = weights[k]
		}
		f.bounds[k] = f.sortChunk(&e.chunks[k], &sorters[worker], room)
		e.store.giveBack()
		f.extra.giveBack()
		return nil
	})
	f.extra.settle()
	return err
}

// weightsOfBothWays returns memory for the weights of the arcs of each chunk, if these are more than the weights of its edges.
func (f *filler[A]) weightsOfBothWays() ([][]float32, error) {
	var a A
	if unsafe.Sizeof(a) == 4 || f.directed {
		return nil, nil
	}
	all, err := allocate[float32](&f.extra, 2*f.edges.count())
	if err != nil {
		return nil, err
	}
	weights := make([][]float32, len(f.edges.chunks))
	for k, c := range f.edges.chunks {
		weights[k], all = all[:2*len(c.from)], all[2*len(c.from):]
	}
	return weights, nil
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

// sortChunk replaces the edges of a chunk by their arcs, sorted by ranges: first those in from, then those in to. weights is memory for their
// weights; nil: the weights of the edges are enough. It returns where the arcs of each range begin, and where the last ones end.
func (f *filler[A]) sortChunk(c *edgeChunk, s *chunkSorter, weights []float32) []uint32 {
	bounds := make([]uint32, len(f.begins))
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
		if weights != nil {
			c.weights = weights
		}
		copy(c.weights, s.weights)
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
	at := f.begins[first]
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
	for k, c := range f.edges.chunks {
		from, to := int(f.bounds[k][first]), int(f.bounds[k][end])
		half := min(max(from, len(c.from)), to) // the arcs from here on are in c.to
		weights := func(from, to int) []float32 {
			if c.weights == nil {
				return nil
			}
			return c.weights[from:to]
		}
		if from < half {
			visit(c.from[from:half], weights(from, half))
		}
		if half < to {
			visit(c.to[half-len(c.from):to-len(c.from)], weights(half, to))
		}
		f.edges.store.giveBack()
		f.extra.giveBack()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
