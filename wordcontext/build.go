package wordcontext

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Build makes the matrix M of the corpus (section 3 of the paper). It returns an
// error if an option is out of range or makes a row too long, if the corpus is empty
// or its parts do not fit together, or if ctx is cancelled: then the error wraps the
// cause of ctx.
//
// It cuts the text into spans and scans it twice.
//
//  1. The first scan counts the contexts of every word in every span. The counts
//     give each row its length, and each span its place in the row.
//  2. A row with more contexts than entries draws those to keep. Each context has a
//     bit.
//  3. The second scan writes the kept contexts to their places, spans in parallel.
//  4. Every row is shuffled.
//
// BuildFile does 2 to 4 for one range of rows after the other.
func Build(ctx context.Context, c *corpus.Corpus, o Options) (*Matrix, error) {
	return BuildPart(ctx, c, o, math.MaxInt)
}

// BuildPart is Build of about so many tokens at the start of the text, at least a
// sentence, with the whole vocabulary. It serves to measure: an M of the whole text has
// the same rows, but longer ones.
func BuildPart(ctx context.Context, c *corpus.Corpus, o Options, tokens int) (*Matrix, error) {
	if err := checkInput(c, &o); err != nil {
		return nil, err
	}
	b := newBuilder(c, o, math.MaxInt64)
	if tokens < b.scan.tokens {
		b.scan.sentences = max(b.scan.text.Find(tokens), 1)
		b.scan.tokens = b.scan.text.Start(b.scan.sentences)
		b.spans = b.scan.split(len(b.spans))
		b.progress.total = 3 * b.scan.visits()
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	return b.matrix, nil
}

// A builder holds the matrix and the tables that Build needs only to fill it.
type builder struct {
	options  *Options
	threads  int
	scan     *scan
	progress *progress
	spans    []span
	matrix   *Matrix

	// starts[k][i] is the number of contexts of row i in the spans before k. It is
	// also the number of the first context of row i in span k.
	starts [][]uint64

	// The rows first ... end-1 are made at a time: all, or a range that fits the memory.
	first, end int

	// A long row has more contexts than entries. long lists the long ones of these rows.
	// keep has one bit for each of their contexts; the bits of row i start at bit
	// keepAt[i-first], a multiple of 64. keepAt is 0 for other rows, so the first 64
	// bits are unused. kept[k][h] is the number of contexts that row long[h] keeps
	// from the spans before k.
	long   []int
	keep   []uint64
	keepAt []uint64
	kept   [][]uint32
}

// newBuilder returns a builder with as many spans as have tables of so many bytes.
func newBuilder(c *corpus.Corpus, o Options, tables int64) *builder {
	b := &builder{options: &o, threads: o.threads()}
	b.progress = &progress{report: o.Progress}
	b.scan = newScan(c, &o, b.progress)
	b.progress.total = 3 * b.scan.visits()
	b.spans = b.scan.split(spanCount(c, &o, tables))
	b.matrix = newMatrix(c.Vocabulary.Len(), o)
	return b
}

// spanCount returns the number of spans of a scan. Several spans per thread let
// all threads finish together. But each span has a table of V numbers, and the
// tables must stay small beside the corpus, and within so many bytes.
func spanCount(c *corpus.Corpus, o *Options, tables int64) int {
	const (
		perThread = 4
		minTokens = 1 << 14  // in a span
		minTables = 16 << 20 // bytes that the tables may have with any corpus
	)
	n, tokens := perThread*o.threads(), c.Text().Tokens()
	n = min(n, int(min(int64(max(minTables, tokens)), tables)/(8*int64(c.Vocabulary.Len()))))
	n = min(n, tokens*o.Passes/minTokens)
	return max(n, 1)
}

func (b *builder) build(ctx context.Context) error {
	if err := b.count(ctx); err != nil {
		return err
	}
	m := b.matrix
	m.allocate()
	if m.narrow != nil {
		return makeRows(ctx, b, 0, m.Rows(), m.narrow)
	}
	return makeRows(ctx, b, 0, m.Rows(), m.wide)
}

// count checks the text, and sets the fingerprint of the matrix and all but its stored
// contexts.
func (b *builder) count(ctx context.Context) error {
	if err := b.scan.corpus.CheckTokens(ctx, b.threads); err != nil {
		return err
	}
	fingerprint := make(chan uint64, 1)
	go func() { fingerprint <- b.scan.corpus.Fingerprint() }()
	defer func() { b.matrix.fingerprint = <-fingerprint }()
	if err := b.countContexts(ctx); err != nil {
		return err
	}
	return b.layOut()
}

// makeRows makes the rows first ... end-1 in stored, row after row. It scans the text
// once.
func makeRows[T id](ctx context.Context, b *builder, first, end int, stored []T) error {
	b.begin(first, end)
	if err := b.discard(ctx); err != nil {
		return err
	}
	if err := fill(ctx, b, stored); err != nil {
		return err
	}
	const grain = 16 // rows
	m, visits := b.matrix, b.scan.visits()
	base := m.offsets[first]
	return parallel.Try(ctx, b.threads, (end-first+grain-1)/grain, func(_, task int) error {
		from, to := first+task*grain, min(first+(task+1)*grain, end)
		for i := from; i < to && !b.options.InOrder; i++ {
			shuffle(stored[m.offsets[i]-base:m.offsets[i+1]-base], b.options.Seed, uint32(i))
		}
		rows := int64(m.Rows())
		b.progress.add(visits*int64(to)/rows - visits*int64(from)/rows)
		return nil
	})
}

// countContexts is the first scan. It puts the counts of span k into starts[k].
// With dynamic windows it also sets the matrix's contextCounts; otherwise layOut
// does.
func (b *builder) countContexts(ctx context.Context) error {
	m, rows := b.matrix, b.matrix.Rows()
	b.starts = make([][]uint64, len(b.spans))
	// If all windows have one size, u is in the window of t whenever t is in the
	// window of u: each word is a context as many times as it has contexts. If
	// windows are dynamic, found counts how many times it is a context.
	found := make([][]uint64, b.threads)
	err := parallel.Try(ctx, b.threads, len(b.spans), func(worker, k int) error {
		counts := make([]uint64, rows)
		b.starts[k] = counts
		if b.options.DynamicWindow && found[worker] == nil {
			found[worker] = make([]uint64, rows)
		}
		return b.scan.each(ctx, b.spans[k], func(words, sizes []uint32) {
			count(words, sizes, b.options.Window, counts, found[worker])
		})
	})
	if err != nil {
		return err
	}
	for _, part := range found {
		for i, n := range part {
			m.contextCounts[i] += n
		}
	}
	return nil
}

// layOut turns the counts of the spans into starts, and sets the place of every
// row in the matrix. It returns an error if a row is too long.
func (b *builder) layOut() error {
	m := b.matrix
	for i := range m.totals {
		var total uint64
		for _, counts := range b.starts {
			counts[i], total = total, total+counts[i]
		}
		m.totals[i] = total
	}
	if !b.options.DynamicWindow {
		copy(m.contextCounts, m.totals)
	}
	return m.layOut()
}

// begin sets the place in keep of every long row of the rows first ... end-1.
func (b *builder) begin(first, end int) {
	m := b.matrix
	b.first, b.end, b.long = first, end, b.long[:0]
	b.keepAt = make([]uint64, end-first)
	keepBits := uint64(64)
	for i := first; i < end; i++ {
		if total := m.totals[i]; total > uint64(m.lengths[i]) {
			b.long = append(b.long, i)
			b.keepAt[i-first] = keepBits
			keepBits += (total + 63) &^ 63
		}
	}
	b.keep = make([]uint64, keepBits/64+1) // one more: bitsAt reads two elements
}

// discard draws the contexts that the long rows keep.
func (b *builder) discard(ctx context.Context) error {
	b.kept = make([][]uint32, len(b.spans))
	for k := range b.kept {
		b.kept[k] = make([]uint32, len(b.long))
	}
	m := b.matrix
	return parallel.Try(ctx, b.threads, len(b.long), func(_, h int) error {
		i := b.long[h]
		n := m.totals[i]
		chosen := b.keep[b.keepAt[i-b.first]/64:][:(n+63)/64]
		choose(chosen, n, m.RowLength(i), b.options.Seed, uint32(i))
		var ones int
		at := uint64(0) // ones counts the bits before this one
		for k := range b.spans {
			for to := b.starts[k][i]; at < to; {
				n := min(64-at%64, to-at)
				ones += bits.OnesCount64(chosen[at/64] >> (at % 64) << (64 - n))
				at += n
			}
			b.kept[k][h] = uint32(ones)
		}
		return nil
	})
}

// fill scans the text and writes the kept contexts of the rows to their places.
func fill[T id](ctx context.Context, b *builder, stored []T) error {
	return parallel.Try(ctx, b.threads, len(b.spans), func(_, k int) error {
		w := &writer[T]{stored: stored, keep: b.keep, size: b.options.Window, first: uint32(b.first), places: b.places(k)}
		return b.scan.each(ctx, b.spans[k], w.write)
	})
}

// A place is the position of the next context of a row.
type place struct {
	next uint64 // index into stored
	bit  uint64 // of the context in keep; 0 for rows that keep all contexts
}

// places returns the places of the rows first ... end-1 at the start of span k.
func (b *builder) places(k int) []place {
	places := make([]place, b.end-b.first)
	offsets := b.matrix.offsets
	base, h := offsets[b.first], 0
	for p := range places {
		i := b.first + p
		places[p].next = offsets[i] - base
		start := b.starts[k][i]
		if b.keepAt[p] == 0 {
			places[p].next += start
			continue
		}
		places[p].next += uint64(b.kept[k][h])
		places[p].bit = b.keepAt[p] + start
		h++
	}
	return places
}

// A writer writes the contexts of one span to their places.
type writer[T id] struct {
	stored []T
	keep   []uint64
	size   int    // of every window, unless windows are dynamic
	first  uint32 // row
	places []place
}

// write stores the kept contexts of all words of a sentence.
func (w *writer[T]) write(words, sizes []uint32) {
	size := w.size
	for t, word := range words {
		if sizes != nil {
			size = int(sizes[t])
		}
		row := word - w.first
		if int(row) >= len(w.places) {
			continue // of another range
		}
		first, last := window(t, len(words), size)
		p := &w.places[row]
		if p.bit != 0 {
			w.writeKept(p, words, t, first, last)
			continue
		}
		contexts := w.stored[p.next:][:last-first]
		p.next += uint64(len(contexts))
		before := words[first:t]
		for k, context := range before {
			contexts[k] = T(context)
		}
		contexts = contexts[len(before):]
		for k, context := range words[t+1 : last+1] {
			contexts[k] = T(context)
		}
	}
}

// writeKept stores the contexts of words[t] whose bits in keep are set. The window
// is words[first:last+1].
func (w *writer[T]) writeKept(p *place, words []uint32, t, first, last int) {
	for n := last - first; n > 0; {
		step := min(n, 64) // contexts whose bits are read together
		set := bitsAt(w.keep, p.bit) << (64 - step) >> (64 - step)
		for ; set != 0; set &= set - 1 {
			u := first + bits.TrailingZeros64(set)
			if u >= t {
				u++ // a word is not a context of itself
			}
			w.stored[p.next] = T(words[u])
			p.next++
		}
		p.bit += uint64(step)
		first += step
		n -= step
	}
}

// bitsAt returns the 64 bits of keep from bit at on.
func bitsAt(keep []uint64, at uint64) uint64 {
	low, shift := keep[at/64], at%64
	return low>>shift | keep[at/64+1]<<(64-shift)
}

// A progress adds up the work of several goroutines, in tokens, and reports it to
// Options.Progress.
type progress struct {
	report func(done, total int64) // may be nil
	total  int64

	mu   sync.Mutex
	done int64
}

func (p *progress) add(n int64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.report(p.done, p.total)
}
