package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Options of the walks. For the zero value of an option its default holds.
type Options struct {
	Walks   int     // from each node; default 10
	Length  int     // of a walk, in nodes; default 80
	P       float64 // return parameter: below 1 walks go back more often; default 1
	Q       float64 // in-out parameter: below 1 walks lead farther away; default 1
	Seed    uint64
	Threads int // default: one for each processor

	// Progress, if not nil, learns how many of all walks are written. One goroutine
	// calls it.
	Progress func(written, total int)
}

// The range of p and q. Steps multiply weights by their inverses.
const (
	MinParameter = 1e-6
	MaxParameter = 1e6
)

// withDefaults fills in the defaults and checks the options.
func (o Options) withDefaults() (Options, error) {
	if o.Walks == 0 {
		o.Walks = 10
	}
	if o.Length == 0 {
		o.Length = 80
	}
	if o.P == 0 {
		o.P = 1
	}
	if o.Q == 0 {
		o.Q = 1
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	switch {
	case o.Walks < 0 || int64(o.Walks) >= int64(holdOutRound):
		return o, fmt.Errorf("cannot take %d walks from each node", o.Walks)
	case o.Length < 0:
		return o, fmt.Errorf("a walk cannot have %d nodes", o.Length)
	case o.Threads < 0:
		return o, fmt.Errorf("cannot use %d threads", o.Threads)
	}
	for _, v := range []float64{o.P, o.Q} {
		if !(v >= MinParameter && v <= MaxParameter) {
			return o, fmt.Errorf("p or q is %g; both must be from %g to %g", v, MinParameter, MaxParameter)
		}
	}
	return o, nil
}

// holdOutRound is the number of the round whose random numbers HoldOut draws. No walk
// has it.
const holdOutRound uint32 = math.MaxUint32

// WriteWalks writes walks over the graph to w, one a line, with spaces between the
// nodes. In each of o.Walks rounds one walk begins at every node; the order of the
// nodes is random. A walk ends early at a node without neighbours.
//
// Errors: an option out of its range, a graph without nodes, errors of w, a cancelled
// context.
func (g *Graph) WriteWalks(ctx context.Context, w io.Writer, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return fmt.Errorf("walk: %w", err)
	}
	if len(g.Names) == 0 {
		return errors.New("walk: the graph has no nodes")
	}
	s, err := newStepper(g, o.P, o.Q)
	if err != nil {
		return fmt.Errorf("walk: %w", err)
	}
	order := make([]uint32, len(g.Names))
	for round := range o.Walks {
		shuffle(order, o.Seed, uint32(round))
		progress := func(written int) {
			if o.Progress != nil {
				o.Progress(round*len(order)+written, o.Walks*len(order))
			}
		}
		if err := s.writeRound(ctx, w, order, uint32(round), o, progress); err != nil {
			return err
		}
	}
	return nil
}

// shuffle fills order with 0 … V-1 in a random order (Fisher-Yates).
func shuffle(order []uint32, seed uint64, round uint32) {
	for i := range order {
		order[i] = uint32(i)
	}
	random := draws{seed, corpus.StreamWalk.Sub(round), maxNodes << 32}
	for i := len(order) - 1; i > 0; i-- {
		j := corpus.Below(random.next()[0], uint32(i+1))
		order[i], order[j] = order[j], order[i]
	}
}

const (
	chunkWalks = 256 // walks that a goroutine takes at a time
	waveChunks = 64  // chunks that are in memory until they are written
)

// writeRound writes one walk from each node, in the given order. Goroutines walk a
// wave of chunks; then writeRound writes these in order.
func (s *stepper) writeRound(ctx context.Context, w io.Writer, order []uint32, round uint32, o Options, progress func(written int)) error {
	chunks := slices.Collect(slices.Chunk(order, chunkWalks))
	texts := make([]bytes.Buffer, min(waveChunks, len(chunks)))
	written := 0
	for wave := range slices.Chunk(chunks, waveChunks) {
		err := parallel.Do(ctx, o.Threads, len(wave), func(c int) {
			texts[c].Reset()
			for _, start := range wave[c] {
				s.walk(&texts[c], start, round, o)
			}
		})
		if err != nil {
			return err
		}
		for c := range wave {
			if _, err := w.Write(texts[c].Bytes()); err != nil {
				return err
			}
			written += len(wave[c])
		}
		progress(written)
	}
	return nil
}

// walk appends one walk to text, as a line.
func (s *stepper) walk(text *bytes.Buffer, start, round uint32, o Options) {
	random := draws{o.Seed, corpus.StreamWalk.Sub(round), uint64(start) << 32}
	previous, here := start, start
	text.WriteString(s.g.Names[start])
	for n := 1; n < o.Length && len(s.g.neighbours(here)) > 0; n++ {
		var x uint32
		if n == 1 {
			x = s.drawByWeight(here, random.next()[0])
		} else {
			x = s.step(previous, here, &random)
		}
		previous, here = here, x
		text.WriteByte(' ')
		text.WriteString(s.g.Names[here])
	}
	text.WriteByte('\n')
}
