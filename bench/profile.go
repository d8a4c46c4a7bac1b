package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
)

// A ProfileCase is a minibatch of mode vanilla to be taken apart (figure 3 of
// the W2V-CL paper).
type ProfileCase struct {
	Words     int `json:"words"`    // V
	Dim       int `json:"dim"`      // N
	Negatives int `json:"negative"` // K
	Batch     int `json:"batch"`    // positive pairs of a minibatch
	Threads   int `json:"threads"`
}

// Parts of a minibatch, in the order of the work.
const (
	PartDraw      = "draw"      // negatives
	PartDot       = "dot"       // gathering rows, dot products
	PartLoss      = "loss"      // sigmoids and the loss
	PartGradients = "gradients" // of both tables, conflicts summed
	PartUpdate    = "update"    // Adam on the rows that occur
	PartRest      = "rest"      // reading pairs, sorting conflicts, the graph's machine
)

// A ProfilePart is one part of a minibatch, measured by itself.
type ProfilePart struct {
	Name           string      `json:"name"`
	Step           Measurement `json:"step_seconds"` // of one minibatch
	WordsPerSecond float64     `json:"words_per_second"`
	Share          float64     `json:"share"` // of All
}

// A ProfileResult says how long a minibatch takes and which part of it takes
// how much. Words per second are positive pairs, as the paper's words are.
type ProfileResult struct {
	ProfileCase
	Parts          []ProfilePart `json:"parts"` // PartRest is what All has beyond the others
	All            Measurement   `json:"all_seconds"`
	WordsPerSecond float64       `json:"words_per_second"`
	Forward        float64       `json:"forward_words_per_second"` // draw, dot and loss
}

// profileWindow is the window of the text that is profiled.
const profileWindow = 2

// MeasureProfile measures the parts on random pairs as frequent as in a
// subsampled text, and all together as the training of such a text.
func MeasureProfile(ctx context.Context, c ProfileCase, seed uint64, e Effort) (ProfileResult, error) {
	r := ProfileResult{ProfileCase: c}
	text, err := syntheticCorpus(c.Words, Zipf, seed)
	if err != nil {
		return r, err
	}
	noise, err := corpus.NewAlias(corpus.CountPower(text.Vocabulary.Counts, 0.75))
	if err != nil {
		return r, fmt.Errorf("cannot draw negatives: %w", err)
	}
	if r.All, err = measureMinibatches(ctx, text, noise, c, seed, e); err != nil {
		return r, err
	}
	b, err := newMinibatch(text.Vocabulary.Counts, noise, c, seed)
	if err != nil {
		return r, err
	}
	var sum, forward float64
	for _, part := range b.parts() {
		step, err := b.measure(ctx, part.work, e)
		if err != nil {
			return r, err
		}
		sum += step.Median
		if part.name == PartDraw || part.name == PartDot || part.name == PartLoss {
			forward += step.Median
		}
		r.add(part.name, step)
	}
	// Rounding and luck apart, the parts are less than the whole.
	rest := max(r.All.Median-sum, 0)
	r.add(PartRest, Measurement{rest, rest, rest, r.All.Runs})
	r.WordsPerSecond = rate(float64(c.Batch), r.All.Median)
	r.Forward = rate(float64(c.Batch), forward)
	return r, nil
}

func (r *ProfileResult) add(name string, step Measurement) {
	r.Parts = append(r.Parts, ProfilePart{
		Name: name, Step: step, WordsPerSecond: rate(float64(r.Batch), step.Median), Share: rate(step.Median, r.All.Median),
	})
}

// measureMinibatches trains units of a text and returns the seconds of a
// minibatch.
func measureMinibatches(ctx context.Context, text *corpus.Corpus, noise *corpus.Alias, c ProfileCase, seed uint64, e Effort) (Measurement, error) {
	options := graph.VanillaOptions{Window: profileWindow, Sample: textSample, Batch: c.Batch, Epochs: 1 << 16}
	trainer, err := graph.NewVanilla(text, noise, options, graph.Config{
		Dim: c.Dim, Negatives: c.Negatives, Seed: seed, Threads: c.Threads, Form: graph.FormFused,
		Optimizer: optim.Config{Method: optim.Adam},
	})
	if err != nil {
		return Measurement{}, err
	}
	unit := 0
	var perBatch []float64
	for turn := range e.Repeat + 1 {
		var pairs float64
		start := time.Now()
		for pairs == 0 || time.Since(start) < e.Time && turn > 0 { // the first only warms up
			report, err := trainer.Advance(ctx, unit%trainer.Units(), stepRate)
			if err != nil {
				return Measurement{}, err
			}
			pairs += report.Pairs
			unit++
		}
		if turn > 0 {
			perBatch = append(perBatch, time.Since(start).Seconds()*float64(c.Batch*(1+c.Negatives))/pairs)
		}
	}
	return Measured(perBatch), trainer.Close()
}

// A minibatch is one batch of pairs and all that its parts work on.
type minibatch struct {
	ProfileCase
	team  *team.Team
	noise *corpus.Alias
	seed  uint64

	words, contexts []float32 // tables
	left            []uint32  // (B)
	targets         []uint32  // (B, 1+K)
	drawn           []uint32  // where draw writes, (B, K)
	scores          []float32 // (B, 1+K)
	coefficients    []float32 // (B, 1+K)
	kinds           []uint32  // likewise
	losses          []float64 // by worker

	byWord, byContext               sorted
	wordGradients, contextGradients []float32 // of the distinct rows
	wordOptimizer, contextOptimizer optim.Optimizer
}

// sorted is a batch's entries by the row that they update.
type sorted struct {
	rows   []uint32 // distinct
	starts []int
	others []uint32 // rows of the other table
	values []float32
}

func sortEntries(keys, others []uint32) sorted {
	place := map[uint32]int{}
	var s sorted
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

func newMinibatch(counts []uint64, noise *corpus.Alias, c ProfileCase, seed uint64) (*minibatch, error) {
	kept := make([]float64, len(counts))
	for i, threshold := range corpus.KeepThresholds(counts, textSample) {
		kept[i] = float64(counts[i]) * (float64(threshold) + 1) / (1 << 32)
	}
	occurrences, err := corpus.NewAlias(kept)
	if err != nil {
		return nil, fmt.Errorf("cannot draw words: %w", err)
	}
	width := 1 + c.Negatives
	entries := c.Batch * width
	b := &minibatch{
		ProfileCase: c, team: team.New(c.Threads), noise: noise, seed: seed,
		words: make([]float32, c.Words*c.Dim), contexts: make([]float32, c.Words*c.Dim),
		drawn: make([]uint32, c.Batch*c.Negatives), scores: make([]float32, entries),
		coefficients: make([]float32, entries), kinds: make([]uint32, entries), losses: make([]float64, c.Threads),
	}
	random := make([]uint32, c.Batch*(width+1))
	simd.Philox(random, seed, uint64(corpus.StreamInitWords), 0)
	var lefts []uint32 // of each entry
	for i := range c.Batch {
		bits := random[i*(width+1):]
		b.left = append(b.left, occurrences.Draw(bits[0]))
		b.kinds[i*width] = simd.Positive
		b.targets = append(b.targets, occurrences.Draw(bits[1]))
		for k := range c.Negatives {
			b.targets = append(b.targets, noise.Draw(bits[2+k]))
		}
		for range width {
			lefts = append(lefts, b.left[i])
		}
	}
	for i := range b.words {
		b.words[i], b.contexts[i] = 0.1*float32(i%7-3), 0.1*float32(i%5-2)
	}
	b.byWord, b.byContext = sortEntries(lefts, b.targets), sortEntries(b.targets, lefts)
	b.wordGradients = make([]float32, len(b.byWord.rows)*c.Dim)
	b.contextGradients = make([]float32, len(b.byContext.rows)*c.Dim)
	config := optim.Config{Method: optim.Adam}
	if b.wordOptimizer, err = optim.New(config, c.Words, c.Dim); err == nil {
		b.contextOptimizer, err = optim.New(config, c.Words, c.Dim)
	}
	return b, err
}

// profileBlock is how many left words, or rows, a goroutine takes at a time.
const profileBlock = 32

// A part of the work on a minibatch.
type part struct {
	name string
	work func() error
}

func (b *minibatch) parts() []part {
	return []part{{PartDraw, b.draw}, {PartDot, b.dot}, {PartLoss, b.loss}, {PartGradients, b.gradients}, {PartUpdate, b.update}}
}

// each calls work for parts of n things.
func (b *minibatch) each(n int, work func(worker, first, last int)) error {
	return b.team.Do((n+profileBlock-1)/profileBlock, func(worker, i int) {
		work(worker, i*profileBlock, min((i+1)*profileBlock, n))
	})
}

func (b *minibatch) draw() error {
	k := b.Negatives
	return b.each(b.Batch, func(_, first, last int) {
		words := b.drawn[first*k : last*k]
		simd.Philox(words, b.seed, uint64(corpus.StreamNegatives), uint64(first*k))
		for i, bits := range words {
			words[i] = b.noise.Draw(bits)
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
	combine := func(s *sorted, table, gradients []float32) error {
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
	update := func(o optim.Optimizer, s *sorted, table, gradients []float32) error {
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
