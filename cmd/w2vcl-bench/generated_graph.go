package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A generatedGraph is a random graph with nodes 0 ... nodes-1 and so many edges, none from a node to itself. An
// edge may occur more than once.
//
// Without blocks it is an R-MAT graph with the parameters of Graph500, .57, .19, .19 and .05 (Chakrabarti et al.,
// "R-MAT: A Recursive Model for Graph Mining", SDM 2004).
//
// With blocks it is a degree-corrected block model (Karrer and Newman, Physical Review E 83, 2011): the block of node v is v
// mod blocks, a fifth of the edges leads to another block, and the expected degree of the node with rank r in its
// block is in proportion to 1/sqrt(r).
type generatedGraph struct {
	nodes, edges int64
	blocks       int64
	seed         uint64
}

// check returns an error if there is no such graph.
func (g generatedGraph) check() error {
	switch {
	case g.nodes < 2 || g.nodes > 1<<31:
		return fmt.Errorf("%d nodes; there must be from 2 to 2^31", g.nodes)
	case g.edges < 1:
		return fmt.Errorf("%d edges; there must be at least 1", g.edges)
	case g.blocks < 0 || g.blocks == 1 || g.blocks > g.nodes/2:
		return fmt.Errorf("%d blocks of %d nodes; there must be 2 blocks or more, of 2 nodes or more each", g.blocks, g.nodes)
	}
	return nil
}

// write writes the edges as a list. The bytes do not depend on the number of threads.
func (g generatedGraph) write(ctx context.Context, w io.Writer, threads int, progress func(done, total int64)) error {
	const together = 1 << 14
	first := int64(0)
	blocks := parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		if first >= g.edges {
			return nil, nil, io.EOF
		}
		from, end := first, min(first+together, g.edges)
		first = end
		if progress != nil {
			progress(from, g.edges)
		}
		return func() parallel.Block { return parallel.Block{Data: g.lines(from, end)} }, nil, ctx.Err()
	})
	defer func() { _ = blocks.Close() }() // it was only read
	if _, err := io.Copy(w, blocks); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	return nil
}

// lines returns the edges first ... end-1.
func (g generatedGraph) lines(first, end int64) (text []byte) {
	for i := first; i < end; i++ {
		from, to := g.edge(i)
		text = strconv.AppendInt(text, from, 10)
		text = append(text, ' ')
		text = strconv.AppendInt(text, to, 10)
		text = append(text, '\n')
	}
	return text
}

// edge draws an edge until it leads from one node to another.
func (g generatedGraph) edge(number int64) (from, to int64) {
	const most = 1 << 16 // numbers for an edge
	d := edgeDraws{seed: g.seed, counter: uint64(number) * most, few: g.blocks > 0}
	for from == to {
		if g.blocks > 0 {
			from, to = g.blockEdge(&d)
		} else {
			from, to = g.recursiveEdge(&d)
		}
	}
	return from, to
}

type edgeDraws struct {
	seed, counter uint64
	ready         [32]uint32 // as many as the vector kernel draws at once
	used, drawn   int        // of ready
	few           bool       // an edge needs some numbers, not dozens
}

func (d *edgeDraws) next() uint32 {
	if d.used == d.drawn {
		if d.used, d.drawn = 0, len(d.ready); d.few {
			d.drawn = 8
		}
		simd.Philox(d.ready[:d.drawn], d.seed, uint64(corpus.StreamGenerated.Sub(2)), d.counter)
		d.counter += uint64(d.drawn / 4)
	}
	d.used++
	return d.ready[d.used-1]
}

// below returns a random number below n.
func (d *edgeDraws) below(n int64) int64 {
	high, _ := bits.Mul64(uint64(d.next())<<32|uint64(d.next()), uint64(n))
	return int64(high)
}

// recursiveEdge draws an edge of R-MAT.
func (g generatedGraph) recursiveEdge(d *edgeDraws) (from, to int64) {
	const a, b, c = 57 << 32 / 100, 76 << 32 / 100, 95 << 32 / 100 // running sums of the probabilities
	for {
		from, to = 0, 0
		for range bits.Len64(uint64(g.nodes - 1)) {
			x := int64(d.next()) // below 2^32: the sign of a difference says which is smaller, without a branch
			low, high := (a-1-x)>>63&1, (c-1-x)>>63&1
			down := (b - 1 - x) >> 63 & 1
			from, to = 2*from+down, 2*to+low-down+high
		}
		if from < g.nodes && to < g.nodes {
			return from, to
		}
	}
}

func (g generatedGraph) blockEdge(d *edgeDraws) (from, to int64) {
	const mixing = 1 << 32 / 5 // of the random numbers
	block := d.below(g.blocks)
	from = g.member(block, d)
	if d.next() <= mixing {
		block = (block + 1 + d.below(g.blocks-1)) % g.blocks
	}
	return from, g.member(block, d)
}

func (g generatedGraph) member(block int64, d *edgeDraws) int64 {
	size := (g.nodes - block + g.blocks - 1) / g.blocks
	u := float64(d.next()) / (1 << 32)
	return block + g.blocks*min(int64(math.Floor(float64(size)*u*u)), size-1) // u² has the density 1/(2·sqrt(x))
}

// writeLabels writes the blocks of all nodes, as labels for 'w2vcl eval --task nodes'.
func (g generatedGraph) writeLabels(w io.Writer) error {
	out := bufio.NewWriter(w)
	for v := range g.nodes {
		_, _ = fmt.Fprintf(out, "%d %d\n", v, v%g.blocks) // Flush returns the error
	}
	return out.Flush()
}
