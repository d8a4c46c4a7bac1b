package wordcontext

import (
	"context"
	"fmt"
	"math/bits"

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
func Build(ctx context.Context, c *corpus.Corpus, o Options) (*Matrix, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := checkCorpus(c); err != nil {
		return nil, err
	}
	b := newBuilder(c, o)
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

	// A long row has more contexts than entries. long lists the long rows.
	// keep has one bit for each of their contexts; the bits of row i start at bit
	// keepAt[i], a multiple of 64. keepAt is 0 for other rows, so the first 64
	// bits are unused. kept[k][h] is the number of contexts that row long[h] keeps
	// from the spans before k.
	long   []int
	keep   []uint64
	keepAt []uint64
	kept   [][]uint32
}

func newBuilder(c *corpus.Corpus, o Options) *builder {
	b := &builder{options: &o, threads: o.threads()}
	b.progress = &progress{report: o.Progress, total: 3 * b.visits(c)}
	b.scan = newScan(c, &o, b.progress)
	b.spans = b.scan.split(spanCount(c, &o))
	b.matrix = newMatrix(c.Vocabulary.Len(), o)
	return b
}

// visits returns the number of tokens that one scan of all passes visits.
func (b *builder) visits(c *corpus.Corpus) int64 {
	return int64(c.Text().Tokens()) * int64(b.options.Passes)
}

// spanCount returns the number of spans of a scan. Several spans per thread let
// all threads finish together. But each span has a table of V numbers, and the
// tables must stay small beside the corpus.
func spanCount(c *corpus.Corpus, o *Options) int {
	const (
		perThread = 4
		minTokens = 1 << 14  // in a span
		minTables = 16 << 20 // bytes that the tables may have with any corpus
	)
	n, tokens := perThread*o.threads(), c.Text().Tokens()
	n = min(n, max(minTables, tokens)/(8*c.Vocabulary.Len()))
	n = min(n, tokens*o.Passes/minTokens)
	return max(n, 1)
}

func (b *builder) build(ctx context.Context) error {
	if err := b.checkTokens(ctx); err != nil {
		return err
	}
	fingerprint := make(chan uint64, 1)
	go func() { fingerprint <- b.scan.corpus.Fingerprint() }()
	defer func() { b.matrix.fingerprint = <-fingerprint }()
	if err := b.countContexts(ctx); err != nil {
		return err
	}
	if err := b.layOut(); err != nil {
		return err
	}
	if err := b.discard(ctx); err != nil {
		return err
	}
	if b.matrix.narrow != nil {
		return fill(ctx, b, b.matrix.narrow)
	}
	return fill(ctx, b, b.matrix.wide)
}

// checkTokens returns an error if a token is not a word of the vocabulary.
func (b *builder) checkTokens(ctx context.Context) error {
	const step = 1 << 20
	text, rows := b.scan.text, b.matrix.Rows()
	if text.InFile() { // which was checked when it was opened
		return nil
	}
	return parallel.Try(ctx, b.threads, (text.Tokens()+step-1)/step, func(_, k int) (err error) {
		text.Blocks(k*step, min((k+1)*step, text.Tokens()), func(first int, ids []uint32) bool {
			for t, word := range ids {
				if int(word) >= rows {
					err = fmt.Errorf("token %d of the corpus is word %d, but the vocabulary has %d words", first+t, word, rows)
					return false
				}
			}
			return true
		})
		return err
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
// row in the matrix and of every long row in keep. It returns an error if a row is
// too long.
func (b *builder) layOut() error {
	m := b.matrix
	for i := range m.totals {
		var total uint64
		for _, counts := range b.starts {
			counts[i], total = total, total+counts[i]
		}
		m.totals[i] = total
	}
	if err := m.allocate(); err != nil {
		return err
	}
	b.keepAt = make([]uint64, m.Rows())
	keepBits := uint64(64)
	for i, total := range m.totals {
		if total > uint64(m.lengths[i]) {
			b.long = append(b.long, i)
			b.keepAt[i] = keepBits
			keepBits += (total + 63) &^ 63
		}
	}
	if !b.options.DynamicWindow {
		copy(m.contextCounts, m.totals)
	}
	b.keep = make([]uint64, keepBits/64+1) // one more: bitsAt reads two elements
	return nil
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
		chosen := b.keep[b.keepAt[i]/64:][:(n+63)/64]
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

// fill is the second scan and the shuffle. stored is the matrix's narrow or wide.
func fill[T id](ctx context.Context, b *builder, stored []T) error {
	err := parallel.Try(ctx, b.threads, len(b.spans), func(_, k int) error {
		w := &writer[T]{stored: stored, keep: b.keep, size: b.options.Window, places: b.places(k)}
		return b.scan.each(ctx, b.spans[k], w.write)
	})
	if err != nil {
		return err
	}
	const grain = 16 // rows
	m, visits := b.matrix, b.visits(b.scan.corpus)
	rows := m.Rows()
	return parallel.Try(ctx, b.threads, (rows+grain-1)/grain, func(_, task int) error {
		from, to := task*grain, min((task+1)*grain, rows)
		for i := from; i < to; i++ {
			shuffle(stored[m.offsets[i]:m.offsets[i+1]], b.options.Seed, uint32(i))
		}
		b.progress.add(visits*int64(to)/int64(rows) - visits*int64(from)/int64(rows))
		return nil
	})
}

// A place is the position of the next context of a row.
type place struct {
	next uint64 // index into the matrix's narrow or wide
	bit  uint64 // of the context in keep; 0 for rows that keep all contexts
}

// places returns the places of all rows at the start of span k.
func (b *builder) places(k int) []place {
	places := make([]place, b.matrix.Rows())
	h := 0
	for i := range places {
		places[i].next = b.matrix.offsets[i]
		start := b.starts[k][i]
		if b.keepAt[i] == 0 {
			places[i].next += start
			continue
		}
		places[i].next += uint64(b.kept[k][h])
		places[i].bit = b.keepAt[i] + start
		h++
	}
	return places
}

// A writer writes the contexts of one span to their places.
type writer[T id] struct {
	stored []T
	keep   []uint64
	size   int // of every window, unless windows are dynamic
	places []place
}

// write stores the kept contexts of all words of a sentence.
func (w *writer[T]) write(words, sizes []uint32) {
	size := w.size
	for t, word := range words {
		if sizes != nil {
			size = int(sizes[t])
		}
		first, last := window(t, len(words), size)
		p := &w.places[word]
		if p.bit != 0 {
			w.writeKept(p, words, t, first, last)
			continue
		}
		row := w.stored[p.next:][:last-first]
		p.next += uint64(len(row))
		before := words[first:t]
		for k, context := range before {
			row[k] = T(context)
		}
		row = row[len(before):]
		for k, context := range words[t+1 : last+1] {
			row[k] = T(context)
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
