package walk

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Corpus returns the walks over the graph as a corpus whose sentences are walked whenever they are read, in the
// order of [Graph.WriteWalks]. To close it closes the graph. The words are the nodes, and node i has the id i.
//
// The counts of the words are not counted, because that would take a walk over everything before training begins. They follow
// from the masses, see counts. A graph with nodes that walks end at is walked over once, for the lengths of the walks.
//
// Errors: an option out of its range, a graph without nodes, a cancelled context; memory.ErrRoom.
func (g *Graph) Corpus(ctx context.Context, o Options) (*corpus.Corpus, error) {
	w, err := g.walks(ctx, &o)
	if err != nil {
		return nil, err
	}
	c := &encoded.Computed{
		Sentences: w.count(), Longest: w.length, Ahead: together, Bytes: w.bytes(), Source: w.plan(), Close: g.Close,
	}
	if g.DeadEnds() > 0 {
		if c.Lengths, err = w.lengths(ctx, o.Threads); err != nil {
			return nil, err
		}
	}
	steppers := sync.Pool{New: func() any { return w.lockstep() }}
	c.Fill = func(first, end int, to []uint32) {
		l := steppers.Get().(*lockstep)
		defer steppers.Put(l)
		for ; first < end; first += together {
			last := min(first+together, end)
			l.walk(first, last)
			for b := range last - first {
				to = to[copy(to, l.path(b)):]
			}
		}
	}
	text := encoded.NewComputed(c)
	v := &corpus.Vocabulary{Words: g.Names, Counts: g.counts(o.Walks, text.Tokens())} // NewVocabulary would make a map of the names
	return v.Over(text, w.fingerprint(v, &o)), nil
}

// bytes returns the memory of the graph. Of what is in files the processor sees some megabytes.
func (w *walks) bytes() int64 {
	bytes := 8 * int64(len(w.g.starts)+len(w.g.mass))
	if w.g.store.inFiles() {
		return bytes + 16<<20
	}
	return bytes + 4*int64(len(w.g.ends)+len(w.g.weights)+len(w.cells))
}

// lengths returns the lengths of all walks. There is room for one number more.
func (w *walks) lengths(ctx context.Context, threads int) ([]uint32, error) {
	done, err := memory.Room(4 * int64(w.count()))
	if err != nil {
		return nil, fmt.Errorf("the lengths of %d walks: %w", w.count(), err)
	}
	defer done()
	lengths := make([]uint32, w.count(), w.count()+1)
	steppers := make([]*lockstep, threads)
	return lengths, parallel.Try(ctx, threads, (w.count()+together-1)/together, func(worker, k int) error {
		if steppers[worker] == nil {
			steppers[worker] = w.lockstep()
		}
		l, first := steppers[worker], k*together
		end := min(first+together, w.count())
		l.walk(first, end)
		for b := range end - first {
			lengths[first+b] = uint32(l.lengths[b])
		}
		return nil
	})
}

// counts returns about how often the walks come to each node, in a text of so many tokens: as often as walks begin there, and
// otherwise in proportion to its mass. For long walks over an undirected graph with p = q = 1 this is what they do on
// average. The sum is the number of tokens.
func (g *Graph) counts(rounds, tokens int) []uint64 {
	sum := 0.0
	for _, m := range g.mass {
		sum += m
	}
	counts, left := make([]uint64, len(g.Names)), uint64(tokens-rounds*len(g.Names))
	for i, rest := 0, float64(left); i < len(counts); i++ {
		share := min(uint64(math.Floor(rest/sum*g.mass[i])), left)
		counts[i] = uint64(rounds) + share
		left -= share
	}
	for i := 0; left > 0; i = (i + 1) % len(counts) { // what rounding left
		counts[i]++
		left--
	}
	return counts
}

// fingerprint identifies the graph and the walks.
func (w *walks) fingerprint(v *corpus.Vocabulary, o *Options) uint64 {
	h := xxhash.New()
	_, _ = fmt.Fprintf(h, "walks 1 %d %d %x %x %d %t\x00", o.Walks, o.Length, o.P, o.Q, o.Seed, w.g.Directed)
	_ = v.WriteTSV(h) // names of nodes have no white space
	var buffer [4096]byte
	put := func(count int, number func(i int) uint32) {
		at := 0
		for i := range count {
			binary.LittleEndian.PutUint32(buffer[at:], number(i))
			if at += 4; at == len(buffer) || i == count-1 {
				h.Write(buffer[:at])
				at = 0
			}
		}
	}
	put(len(w.g.Names), func(i int) uint32 { return uint32(w.g.starts[i+1] - w.g.starts[i]) })
	put(len(w.g.ends), func(i int) uint32 { return w.g.ends[i] })
	put(len(w.g.weights), func(i int) uint32 { return math.Float32bits(w.g.weights[i]) })
	return h.Sum64()
}
