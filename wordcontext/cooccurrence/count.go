package cooccurrence

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A Weighting says what a context counts at a distance of d words.
type Weighting int

// Weightings, for windows of w words on either side.
const (
	Flat     Weighting = iota // 1
	Linear                    // (w-d+1)/w: what windows of random width count on average
	Harmonic                  // 1/d, as GloVe counts
)

func (w Weighting) of(distance, window int) float64 {
	switch w {
	case Linear:
		return float64(window-distance+1) / float64(window)
	case Harmonic:
		return 1 / float64(distance)
	default:
		return 1
	}
}

// Options says what Count counts.
type Options struct {
	// Sentences has the windows and the subsampling. Windows always have their full
	// width here: Linear is the mean of dynamic ones.
	Sentences corpus.SentenceOptions
	Weighting Weighting
	Threads   int

	// Buffer is the most pairs that are held before they are summed, 4 bytes each. A
	// text with more is scanned several times. 0: 128 million.
	Buffer int

	// Progress, if it is not nil, is called from time to time with the tokens visited
	// of all that Count will visit.
	Progress func(done, total int64)
}

// A Matrix holds the weighted number of times that word i and context j meet. It is
// symmetric, because windows are.
type Matrix struct {
	contexts [][]uint32  // of each row, ascending
	values   [][]float32 // above 0
}

// Rows is the number of words V.
func (m *Matrix) Rows() int { return len(m.contexts) }

// Row returns the contexts of a word in ascending order, and their counts. They are
// live.
func (m *Matrix) Row(i int) (contexts []uint32, values []float32) {
	return m.contexts[i], m.values[i]
}

// Entries is how many counts are not 0.
func (m *Matrix) Entries() (n int64) {
	for _, row := range m.contexts {
		n += int64(len(row))
	}
	return n
}

// Bytes is the memory of the matrix.
func (m *Matrix) Bytes() int64 { return bytesOf(m.Rows(), m.Entries()) }

// ForMatrix is the purpose of a matrix in an account of memory.
const ForMatrix = "matrix M"

// bytesOf is the memory of a matrix, of whose rows each is two slices. Go rounds their sizes up.
func bytesOf(rows int, entries int64) int64 { return 8*(entries+entries/16) + 48*int64(rows) }

// fixed is the unit of sums. Whole numbers have the same sum in any order.
const fixed = 1 << 32

// A counter scans the text and sums what it finds.
type counter struct {
	options *Options
	text    *corpus.Text
	reader  *corpus.SentenceReader
	spans   []span
	matrix  *Matrix
	pairs   []uint64 // of each word, in all passes
	visited atomic.Int64
	total   int64
}

type span struct{ from, to int }

// Count counts the contexts of each word. It is an error if a pair cannot be held in 32
// bits: V times the window must be below 2^32. The error wraps [memory.ErrRoom] if the counts do not fit the memory.
func Count(ctx context.Context, c *corpus.Corpus, o Options) (*Matrix, error) {
	rows := c.Vocabulary.Len()
	if o.Sentences.Window < 1 || o.Threads < 1 {
		return nil, fmt.Errorf("cooccurrence: window %d, %d threads: each must be at least 1", o.Sentences.Window, o.Threads)
	}
	if uint64(rows)*uint64(o.Sentences.Window) >= 1<<32 {
		return nil, fmt.Errorf("%d words with windows of %d words are too many to count their pairs: the product must be below 2^32", rows, o.Sentences.Window)
	}
	if o.Buffer == 0 {
		o.Buffer = int(max(min(1<<27, memory.Left()/32), 1<<18)) // an eighth of what is left: the rows need memory as well
	}
	o.Sentences.Dynamic = false
	k := &counter{
		options: &o, text: c.Text(), reader: corpus.NewSentenceReader(c, o.Sentences), spans: split(c.Text()), pairs: make([]uint64, rows),
		matrix: &Matrix{contexts: make([][]uint32, rows), values: make([][]float32, rows)},
	}
	if err := k.countPairs(ctx); err != nil {
		return nil, err
	}
	ranges := k.ranges()
	k.total = k.visited.Load() * int64(1+len(ranges))
	for _, r := range ranges {
		if err := k.sum(ctx, r[0], r[1]); err != nil {
			return nil, err
		}
	}
	return k.matrix, nil
}

// split cuts a text into spans of some thousand tokens.
func split(text *corpus.Text) []span {
	const tokens = 1 << 16
	var spans []span
	sentences := text.Sentences()
	for from := 0; from < sentences; {
		to := sentences
		if last := text.Start(from) + tokens; last < text.Tokens() {
			to = max(text.Find(last), from+1)
		}
		spans = append(spans, span{from, to})
		from = to
	}
	return spans
}

// each calls visit for the kept words of all sentences, on several goroutines.
func (k *counter) each(ctx context.Context, visit func(worker int, words []uint32)) error {
	readers := make([]*corpus.SentenceReader, k.options.Threads)
	for i := range readers {
		readers[i] = k.reader.Clone()
	}
	return parallel.Try(ctx, k.options.Threads, len(k.spans), func(worker, task int) error {
		s := k.spans[task]
		for sentence := s.from; sentence < s.to; sentence++ {
			words, _ := readers[worker].Sentence(0, sentence)
			visit(worker, words)
		}
		done := k.visited.Add(int64(k.text.Start(s.to) - k.text.Start(s.from)))
		if k.options.Progress != nil {
			// Before the pairs are known there is no total; two scans are usual.
			k.options.Progress(done, max(k.total, 2*int64(k.text.Tokens())))
		}
		return nil
	})
}

// countPairs counts the contexts of each word, so that there is a place for each.
func (k *counter) countPairs(ctx context.Context) error {
	parts := make([][]uint64, k.options.Threads)
	for i := range parts {
		parts[i] = make([]uint64, len(k.pairs))
	}
	window := k.options.Sentences.Window
	err := k.each(ctx, func(worker int, words []uint32) {
		counts := parts[worker]
		for t, word := range words {
			counts[word] += uint64(min(t, window) + min(len(words)-1-t, window))
		}
	})
	for _, part := range parts {
		for i, n := range part {
			k.pairs[i] += n
		}
	}
	return err
}

// ranges cuts the rows into ranges whose pairs fit the buffer, if a row alone does.
func (k *counter) ranges() (ranges [][2]int) {
	first, held := 0, uint64(0)
	for i, n := range k.pairs {
		if held+n > uint64(k.options.Buffer) && i > first {
			ranges = append(ranges, [2]int{first, i})
			first, held = i, 0
		}
		held += n
	}
	return append(ranges, [2]int{first, len(k.pairs)})
}

// sum scans the text for the rows first ... end-1 and sums their pairs. A pair is held as
// context * window + distance-1.
func (k *counter) sum(ctx context.Context, first, end int) error {
	starts := make([]uint64, end-first+1)
	for i := range end - first {
		starts[i+1] = starts[i] + k.pairs[first+i]
	}
	done, err := memory.Room(int64(4 * starts[end-first]))
	if err != nil {
		return err
	}
	defer done()
	held := make([]uint32, starts[end-first])
	next := make([]atomic.Uint64, end-first)
	for i := range next {
		next[i].Store(starts[i])
	}
	window := k.options.Sentences.Window
	err = k.each(ctx, func(_ int, words []uint32) {
		for t, word := range words {
			i := int(word) - first
			if i < 0 || i >= end-first {
				continue
			}
			from, to := max(t-window, 0), min(t+window, len(words)-1)
			at := next[i].Add(uint64(to-from)) - uint64(to-from)
			for u := from; u < t; u++ {
				held[at] = words[u]*uint32(window) + uint32(t-u-1)
				at++
			}
			for u := t + 1; u <= to; u++ {
				held[at] = words[u]*uint32(window) + uint32(u-t-1)
				at++
			}
		}
	})
	if err != nil {
		return err
	}
	weights := make([]uint64, window)
	for d := range weights {
		weights[d] = uint64(math.Round(fixed * k.options.Weighting.of(d+1, window)))
	}
	sums := make([]rowSums, k.options.Threads)
	return parallel.Try(ctx, k.options.Threads, end-first, func(worker, i int) error {
		s := &sums[worker]
		if s.sums == nil {
			s.sums = make([]uint64, len(k.pairs))
		}
		var err error
		k.matrix.contexts[first+i], k.matrix.values[first+i], err = s.row(held[starts[i]:starts[i+1]], weights)
		return err
	})
}

// rowSums sums the pairs of one row after the other.
type rowSums struct {
	sums  []uint64 // of each context, 0 between two rows
	found []uint32
	meter memory.Meter // of the rows
}

func (s *rowSums) row(pairs []uint32, weights []uint64) (contexts []uint32, values []float32, err error) {
	s.found = s.found[:0]
	window := uint32(len(weights))
	for _, pair := range pairs {
		context := pair / window
		if s.sums[context] == 0 {
			s.found = append(s.found, context)
		}
		s.sums[context] += weights[pair%window]
	}
	if err := s.meter.Take(bytesOf(1, int64(len(s.found)))); err != nil {
		return nil, nil, err
	}
	slices.Sort(s.found)
	contexts, values = slices.Clone(s.found), make([]float32, len(s.found))
	for i, context := range contexts {
		values[i] = float32(float64(s.sums[context]) / fixed)
		s.sums[context] = 0
	}
	return contexts, values, nil
}
