package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
)

// A minibatch is one batch of pairs with the memory that its phases work on.
type minibatch struct {
	ProfileCase
	team  *team.Team
	noise *corpus.Alias
	seed  uint64

	words, contexts []float32 // tables
	left            []uint32  // (B)
	targets         []uint32  // (B, 1+K)
	drawn           []uint32  // by draw, (B, K)
	scores          []float32 // (B, 1+K)
	coefficients    []float32 // (B, 1+K)
	kinds           []uint32  // (B, 1+K)
	losses          []float64 // by worker

	byWord, byContext               entriesByRow
	wordGradients, contextGradients []float32 // of the distinct rows
	wordOptimizer, contextOptimizer optim.Optimizer
}

// entriesByRow holds the entries of a batch, sorted by the row that they update.
type entriesByRow struct {
	rows   []uint32 // distinct
	starts []int    // of the entries of each row, and their end
	others []uint32 // rows of the other table, by entry
	values []float32
}

// sortEntries sorts entries of a batch by their rows, the keys.
func sortEntries(keys, others []uint32) entriesByRow {
	place := map[uint32]int{}
	var s entriesByRow
	var lists [][]uint32
	for e, key := range keys {
		i, ok := place[key]
		if !ok {
			i = len(s.rows)
			place[key] = i
			s.rows, lists = append(s.rows, key), append(lists, nil)
		}
		lists[i] = append(lists[i], others[e])
	}
	for _, list := range lists {
		s.starts = append(s.starts, len(s.others))
		s.others = append(s.others, list...)
	}
	s.starts = append(s.starts, len(s.others))
	s.values = make([]float32, len(s.others))
	for i := range s.values {
		s.values[i] = 0.01
	}
	return s
}

// newMinibatch draws a batch of pairs of words with the given counts.
func newMinibatch(counts []uint64, noise *corpus.Alias, c ProfileCase, seed uint64) (*minibatch, error) {
	width := 1 + c.Negatives
	entries := c.Batch * width
	b := &minibatch{
		ProfileCase: c, team: team.New(c.Threads), noise: noise, seed: seed,
		words: make([]float32, c.Vocabulary*c.Dim), contexts: make([]float32, c.Vocabulary*c.Dim),
		drawn: make([]uint32, c.Batch*c.Negatives), scores: make([]float32, entries),
		coefficients: make([]float32, entries), kinds: make([]uint32, entries), losses: make([]float64, c.Threads),
	}
	for i := range b.words {
		b.words[i], b.contexts[i] = 0.1*float32(i%7-3), 0.1*float32(i%5-2)
	}
	lefts, err := b.drawPairs(counts)
	if err != nil {
		return nil, err
	}
	b.byWord, b.byContext = sortEntries(lefts, b.targets), sortEntries(b.targets, lefts)
	b.wordGradients = make([]float32, len(b.byWord.rows)*c.Dim)
	b.contextGradients = make([]float32, len(b.byContext.rows)*c.Dim)
	config := optim.Options{Method: ProfileOptimizer}
	if b.wordOptimizer, err = optim.New(config, c.Vocabulary, c.Dim); err == nil {
		b.contextOptimizer, err = optim.New(config, c.Vocabulary, c.Dim)
	}
	return b, err
}

// drawPairs draws the left word and the targets of each pair, as frequent as in a
// subsampled text. It returns the left word of each entry, (B, 1+K).
func (b *minibatch) drawPairs(counts []uint64) (lefts []uint32, err error) {
	kept := make([]float64, len(counts))
	for i, threshold := range corpus.KeepThresholds(counts, textSample) {
		kept[i] = float64(counts[i]) * (float64(threshold) + 1) / (1 << 32)
	}
	occurrences, err := corpus.NewAlias(kept)
	if err != nil {
		return nil, fmt.Errorf("cannot draw words: %w", err)
	}
	width := 1 + b.Negatives
	random := make([]uint32, b.Batch*(width+1))
	simd.Philox(random, b.seed, uint64(corpus.StreamInitWords), 0)
	for i := range b.Batch {
		bits := random[i*(width+1):]
		b.left = append(b.left, occurrences.Draw(bits[0]))
		b.kinds[i*width] = simd.Positive
		b.targets = append(b.targets, occurrences.Draw(bits[1]))
		for k := range b.Negatives {
			b.targets = append(b.targets, b.noise.Draw(bits[2+k]))
		}
		for range width {
			lefts = append(lefts, b.left[i])
		}
	}
	return lefts, nil
}

// profileBlock is the number of pairs, or rows, that a thread takes at a time.
const profileBlock = 32

// A phase is one phase of the work on a minibatch.
type phase struct {
	name string
	work func() error
}

func (b *minibatch) phases() []phase {
	return []phase{{PhaseDraw, b.draw}, {PhaseDot, b.dot}, {PhaseLoss, b.loss}, {PhaseGradients, b.gradients}, {PhaseUpdate, b.update}}
}

// each calls work for blocks of n pairs or rows, on all threads.
func (b *minibatch) each(n int, work func(worker, first, last int)) error {
	return b.team.Do((n+profileBlock-1)/profileBlock, func(worker, i int) {
		work(worker, i*profileBlock, min((i+1)*profileBlock, n))
	})
}

func (b *minibatch) draw() error {
	k := b.Negatives
	return b.each(b.Batch, func(_, first, last int) {
		drawn := b.drawn[first*k : last*k]
		simd.Philox(drawn, b.seed, uint64(corpus.StreamNegatives), uint64(first*k))
		for i, bits := range drawn {
			drawn[i] = b.noise.Draw(bits)
		}
	})
}

func (b *minibatch) dot() error {
	n, width := b.Dim, 1+b.Negatives
	return b.each(b.Batch, func(_, first, last int) {
		for i := first; i < last; i++ {
			simd.Dots(b.scores[i*width:][:width], b.words[int(b.left[i])*n:][:n], b.contexts, b.targets[i*width:][:width])
		}
	})
}

func (b *minibatch) loss() error {
	width := 1 + b.Negatives
	return b.each(b.Batch, func(worker, first, last int) {
		from, to := first*width, last*width
		loss := simd.NewLoss()
		simd.Gradients(b.coefficients[from:to], b.scores[from:to], b.kinds[from:to], -1, &loss)
		b.losses[worker] = loss.Total()
	})
}

func (b *minibatch) gradients() error {
	combine := func(s *entriesByRow, table, gradients []float32) error {
		return b.each(len(s.rows), func(_, first, last int) {
			for i := first; i < last; i++ {
				from, to := s.starts[i], s.starts[i+1]
				simd.Combine(gradients[i*b.Dim:][:b.Dim], s.values[from:to], table, s.others[from:to])
			}
		})
	}
	if err := combine(&b.byWord, b.contexts, b.wordGradients); err != nil {
		return err
	}
	return combine(&b.byContext, b.words, b.contextGradients)
}

func (b *minibatch) update() error {
	update := func(o optim.Optimizer, s *entriesByRow, table, gradients []float32) error {
		o.Begin(1, stepRate)
		return b.each(len(s.rows), func(_, first, last int) {
			for i := first; i < last; i++ {
				row := int(s.rows[i])
				o.UpdateRow(row, table[row*b.Dim:][:b.Dim], gradients[i*b.Dim:][:b.Dim])
			}
		})
	}
	if err := update(b.wordOptimizer, &b.byWord, b.words, b.wordGradients); err != nil {
		return err
	}
	return update(b.contextOptimizer, &b.byContext, b.contexts, b.contextGradients)
}

// measure returns the seconds of one call of work.
func (b *minibatch) measure(ctx context.Context, work func() error, e Effort) (Measurement, error) {
	if err := work(); err != nil { // fills the caches
		return Measurement{}, err
	}
	var seconds []float64
	for range e.Repeat {
		calls := 0
		start := time.Now()
		for calls == 0 || time.Since(start) < e.Time {
			if err := ctx.Err(); err != nil {
				return Measurement{}, err
			}
			if err := work(); err != nil {
				return Measurement{}, err
			}
			calls++
		}
		seconds = append(seconds, time.Since(start).Seconds()/float64(calls))
	}
	return Measured(seconds), nil
}
