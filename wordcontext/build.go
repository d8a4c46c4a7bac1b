package wordcontext

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Build makes the matrix M of the corpus. It fails if an option is impossible,
// the corpus is empty, or ctx is cancelled.
//
// It scans the text twice. The first scan counts the contexts of every word in
// every span of the text, which gives each row its length and each span the
// place in the row where its contexts go. Rows that are too long then draw
// which of their contexts to keep, one bit each. The second scan writes the
// kept contexts to their places, spans in parallel. At last every row is
// shuffled.
func Build(ctx context.Context, c *corpus.Corpus, o Options) (*Matrix, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("matrix M: %w", err)
	}
	if err := checkCorpus(c); err != nil {
		return nil, fmt.Errorf("matrix M: %w", err)
	}
	b := newBuilder(c, o)
	if err := b.build(ctx); err != nil {
		return nil, fmt.Errorf("matrix M: %w", err)
	}
	return b.matrix, nil
}

// A builder holds what Build needs besides the matrix itself.
type builder struct {
	options  *Options
	threads  int
	scan     *scan
	progress *progress
	spans    []span
	matrix   *Matrix

	// starts[k][i] is the number of contexts of row i in the spans before k:
	// the first context of span k in row i has that number.
	starts [][]uint64

	// Long rows have more contexts than columns. long lists them; keep has one
	// bit for each of their contexts, those of row i from bit keepAt[i] on, a
	// multiple of 64. keepAt is 0 for other rows: the first 64 bits are unused.
	// kept[k][h] is the number of contexts of row long[h] that are kept of the
	// spans before k.
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

// visits is the number of tokens a scan visits.
func (b *builder) visits(c *corpus.Corpus) int64 {
	return int64(len(c.Tokens)) * int64(b.options.Passes)
}

// spanCount is the number of spans to cut the scan into: some per thread so
// that all finish together, but few enough that their tables, one number per
// word each, stay small beside the corpus.
func spanCount(c *corpus.Corpus, o *Options) int {
	const (
		perThread = 4
		minTokens = 1 << 14 // in a span
		minRoom   = 16 << 20
	)
	n := perThread * o.threads()
	n = min(n, max(minRoom, len(c.Tokens))/(8*c.Vocabulary.Len()))
	n = min(n, len(c.Tokens)*o.Passes/minTokens)
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
	b.layOut()
	if err := b.discard(ctx); err != nil {
		return err
	}
	if b.matrix.narrow != nil {
		return fill(ctx, b, b.matrix.narrow)
	}
	return fill(ctx, b, b.matrix.wide)
}

// checkTokens returns an error if a token is no word of the vocabulary.
func (b *builder) checkTokens(ctx context.Context) error {
	const step = 1 << 20
	tokens, rows := b.scan.corpus.Tokens, b.matrix.Rows()
	return parallel.Try(ctx, b.threads, (len(tokens)+step-1)/step, func(_, k int) error {
		for t, word := range tokens[k*step : min((k+1)*step, len(tokens))] {
			if int(word) >= rows {
				return fmt.Errorf("token %d of the corpus is word %d, but the vocabulary has %d words", k*step+t, word, rows)
			}
		}
		return nil
	})
}

// countContexts is the first scan. It leaves the counts of span k in
// starts[k], and sets the matrix's contextCounts.
func (b *builder) countContexts(ctx context.Context) error {
	m, rows := b.matrix, b.matrix.Rows()
	b.starts = make([][]uint64, len(b.spans))
	// With windows of one size, u is in the window of t if t is in that of u:
	// every word is found as often as it finds. Otherwise that is counted, too.
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

// layOut turns the counts of the spans into starts, and gives every row its
// place in the matrix and every long row its place in keep.
func (b *builder) layOut() {
	m := b.matrix
	b.keepAt = make([]uint64, m.Rows())
	keepBits := uint64(64)
	for i := range m.totals {
		var total uint64
		for _, counts := range b.starts {
			counts[i], total = total, total+counts[i]
		}
		m.totals[i] = total
		if total > uint64(m.Contexts()) {
			b.long = append(b.long, i)
			b.keepAt[i] = keepBits
			keepBits += (total + 63) &^ 63
		}
	}
	if !b.options.DynamicWindow {
		copy(m.contextCounts, m.totals)
	}
	m.allocate()
	b.keep = make([]uint64, keepBits/64+1) // one more: bitsAt reads two words
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
		sample(chosen, n, m.Contexts(), b.options.Seed, uint32(i))
		var ones int
		at := uint64(0) // ones are counted before this bit
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

// fill is the second scan and the shuffle; stored is the matrix's storage.
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

// A place is where the next context of a row goes.
type place struct {
	next uint64 // index into the matrix's storage
	bit  uint64 // its bit in keep; 0 for rows that keep all contexts
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
	size   int // of the windows, unless they are dynamic
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

// writeKept stores those contexts of words[t] whose bits in keep are set. The
// window is words[first:last+1].
func (w *writer[T]) writeKept(p *place, words []uint32, t, first, last int) {
	for n := last - first; n > 0; {
		step := min(n, 64) // contexts whose bits are looked at together
		set := bitsAt(w.keep, p.bit) << (64 - step) >> (64 - step)
		for ; set != 0; set &= set - 1 {
			u := first + bits.TrailingZeros64(set)
			if u >= t {
				u++ // the word is no context of itself
			}
			w.stored[p.next] = T(words[u])
			p.next++
		}
		p.bit += uint64(step)
		first += step
		n -= step
	}
}

// bitsAt returns the 64 bits from bit at on.
func bitsAt(words []uint64, at uint64) uint64 {
	low, shift := words[at/64], at%64
	return low>>shift | words[at/64+1]<<(64-shift)
}
