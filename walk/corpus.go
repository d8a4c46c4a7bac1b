package walk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Corpus returns the walks over the graph as a corpus whose sentences are walked whenever they are read, in the
// order of [Graph.WriteWalks]. The words are the nodes, and node i has the id i.
//
// The counts of the words are not counted, because that would take a walk over everything before training begins. They follow
// from the masses, see counts. A directed graph with nodes that walks end at is walked over once, for the lengths of the walks.
//
// Errors: an option out of its range, a graph without nodes, a cancelled context; memory.ErrRoom.
func (g *Graph) Corpus(ctx context.Context, o Options) (*corpus.Corpus, error) {
	w, err := g.walks(ctx, &o)
	if err != nil {
		return nil, err
	}
	c := &encoded.Computed{
		Sentences: w.count(), Longest: w.length, Ahead: together, Bytes: w.bytes(), Source: w.plan(),
	}
	if g.deadEnds() > 0 {
		if c.Lengths, err = w.lengths(ctx, &o); err != nil {
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
	v := &corpus.Vocabulary{Words: g.Names, Counts: w.counts(text.Tokens())} // NewVocabulary would make a map of the names
	fingerprint, err := w.fingerprint(ctx, &o)
	return v.Over(text, fingerprint), err
}

// bytes returns the memory of the graph.
func (w *walks) bytes() int64 {
	return 8*int64(len(w.g.starts)+len(w.g.mass)) + 4*int64(len(w.g.ends)+len(w.g.weights)+len(w.cells))
}

// lengths returns the lengths of all walks. There is room for one number more.
func (w *walks) lengths(ctx context.Context, o *Options) ([]uint32, error) {
	done, err := memory.Room(4 * int64(w.count()+len(w.g.Names)))
	if err != nil {
		return nil, fmt.Errorf("the lengths of %d walks: %w", w.count(), err)
	}
	defer done()
	lengths := make([]uint32, w.count(), w.count()+1)
	steppers := make([]*lockstep, o.Threads)
	reached := make([]atomic.Bool, len(w.g.Names)) // at the end of a walk
	err = parallel.Try(ctx, o.Threads, (w.count()+together-1)/together, func(worker, k int) error {
		if steppers[worker] == nil {
			steppers[worker] = w.lockstep()
		}
		l, first := steppers[worker], k*together
		end := min(first+together, w.count())
		l.walk(first, end)
		for b := range end - first {
			lengths[first+b] = uint32(l.lengths[b])
			if path := l.path(b); len(path) > 1 {
				reached[path[len(path)-1]].Store(true)
			}
		}
		return nil
	})
	unreached := 0
	for i := range reached {
		if w.g.starts[i] == w.g.starts[i+1] && !reached[i].Load() {
			unreached++
		}
	}
	if o.Unreached != nil {
		o.Unreached(unreached)
	}
	return lengths, err
}

// counts returns about how often the walks come to each node, in a text of so many tokens: as often as walks begin there, and
// otherwise in proportion to its mass. For long walks over an undirected graph with p = q = 1 this is what they do on
// average. The sum is the number of tokens.
func (w *walks) counts(tokens int) []uint64 {
	sum := 0.0
	for _, m := range w.g.mass {
		sum += m
	}
	counts, left := make([]uint64, len(w.g.Names)), uint64(tokens-w.count())
	for i, rest := 0, float64(left); i < w.starters; i++ {
		share := min(uint64(math.Floor(rest/sum*w.g.mass[i])), left)
		counts[i] = uint64(w.rounds) + share
		left -= share
	}
	for i := 0; left > 0; i = (i + 1) % w.starters { // what rounding left
		counts[i]++
		left--
	}
	return counts
}

// fingerprint identifies the graph and the walks: a hash of the hashes of its parts.
func (w *walks) fingerprint(ctx context.Context, o *Options) (uint64, error) {
	h := xxhash.New()
	_, _ = fmt.Fprintf(h, "walks 2 %d %d %x %x %d %t %d %d\x00", o.Walks, o.Length, o.P, o.Q, o.Seed, w.g.Directed, len(w.g.Names), len(w.g.ends))
	parts := func(count int, add func(h *xxhash.Digest, first, end int)) error {
		const together = 1 << 20
		hashes := make([]uint64, (count+together-1)/together)
		err := parallel.Do(ctx, o.Threads, len(hashes), func(k int) {
			part := xxhash.New()
			add(part, k*together, min((k+1)*together, count))
			hashes[k] = part.Sum64()
		})
		for _, hash := range hashes {
			_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, hash))
		}
		return err
	}
	err := errors.Join(
		parts(len(w.g.Names), func(h *xxhash.Digest, first, end int) {
			var node []byte
			for i := first; i < end; i++ {
				node = binary.LittleEndian.AppendUint64(node[:0], uint64(w.g.starts[i+1]-w.g.starts[i]))
				node = append(append(node, w.g.Names[i]...), 0)
				_, _ = h.Write(node)
			}
		}),
		parts(len(w.g.ends), func(h *xxhash.Digest, first, end int) {
			_, _ = h.Write(memory.BytesOf(w.g.ends[first:end]))
		}),
		parts(len(w.g.weights), func(h *xxhash.Digest, first, end int) {
			_, _ = h.Write(memory.BytesOf(w.g.weights[first:end]))
		}))
	return h.Sum64(), err
}
