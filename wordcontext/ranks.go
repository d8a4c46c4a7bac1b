package wordcontext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// A TextPart says which part of a text a rank has. The parts follow each other in the order
// of the ranks.
type TextPart struct {
	Comm        cluster.Comm
	FirstToken  int    // number of the part's first token in the whole text
	Fingerprint uint64 // of the whole text
}

// A Part is a rank's part of a matrix M that several ranks made: the contexts of the rows
// First ... End-1, which are the same as those of Build from the whole text. Of other rows it has
// all but the contexts.
type Part struct {
	*Matrix
	First, End int
	Owners     []int // (R+1): the first row of each rank

	comm    cluster.Comm
	offsets []uint64 // of the whole M
}

// BuildOnRanks makes M from a text of which each rank has a part, c, with the vocabulary of
// all. The parts of M together are the M of Build from the whole text, to the bit, for any
// number of ranks and wherever the text is cut. All ranks call it with the same options.
//
// Counts are summed over the ranks. They give each row its length, and each context its
// number in the whole text. The owner of a row draws the contexts to keep and tells the
// ranks which they are; these send them, and the owner shuffles the row.
func BuildOnRanks(ctx context.Context, c *corpus.Corpus, o Options, s TextPart) (*Part, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b := newBuilder(c, o, 1<<62)
	b.scan.reader = b.scan.reader.From(s.FirstToken)
	b.spans = b.scan.splitPasses(len(b.spans))
	if err := c.CheckTokens(ctx, b.threads); err != nil {
		return nil, err
	}
	if err := b.countContexts(ctx); err != nil {
		return nil, err
	}
	m := b.matrix
	m.fingerprint = s.Fingerprint
	found := make([][]uint64, o.Passes) // in each pass
	for p := range found {
		found[p] = make([]uint64, m.Rows())
	}
	b.sumSpans(found)
	b.totals = slices.Clone(m.totals)
	if err := errors.Join(s.Comm.AllReduce(m.totals, cluster.Sum), s.Comm.AllReduce(m.contextCounts, cluster.Sum)); err != nil {
		return nil, err
	}
	if err := m.layOut(); err != nil {
		return nil, err
	}
	p := &Part{Matrix: m, comm: s.Comm, offsets: m.offsets, Owners: rowOwners(m.offsets, s.Comm.Size())}
	p.First, p.End = p.Owners[s.Comm.Rank()], p.Owners[s.Comm.Rank()+1]
	router, err := newRouter(s.Comm, p.offsets, p.Owners, found, b.threads)
	if err != nil {
		return nil, err
	}
	kept, err := b.receive(ctx, router)
	if err != nil {
		return nil, err
	}
	b.offsets = make([]uint64, m.Rows()+1)
	for i, n := range kept {
		b.offsets[i+1] = b.offsets[i] + n
	}
	if isNarrow(m.Rows()) {
		m.narrow, err = collect[uint16](ctx, b, router, p)
	} else {
		m.wide, err = collect[uint32](ctx, b, router, p)
	}
	m.offsets = make([]uint64, m.Rows()+1)
	for i, at := range p.offsets {
		m.offsets[i] = min(max(at, p.offsets[p.First]), p.offsets[p.End]) - p.offsets[p.First]
	}
	return p, err
}

// receive draws what the long rows keep, and returns how many of the contexts of this
// part each row keeps.
func (b *builder) receive(ctx context.Context, router *router) ([]uint64, error) {
	m := b.matrix
	b.begin(0, m.Rows())
	kept := make([]uint64, m.Rows())
	for i, n := range b.totals {
		if b.keepAt[i] == 0 {
			kept[i] = n
		}
	}
	draw := func(row int) []uint64 {
		n := m.totals[row]
		if n <= uint64(m.lengths[row]) {
			return nil
		}
		chosen := make([]uint64, (n+63)/64)
		choose(chosen, n, m.RowLength(row), b.options.Seed, uint32(row))
		return chosen
	}
	err := router.Draw(ctx, draw, func(row int, numbers []uint32) {
		kept[row] = uint64(len(numbers))
		for _, n := range numbers {
			bit := b.keepAt[row] + uint64(n)
			b.keep[bit/64] |= 1 << (bit % 64)
		}
	})
	b.chosen = true
	return kept, err
}

// collect scans the part, and returns the contexts of the own rows, which the ranks found.
func collect[T id](ctx context.Context, b *builder, router *router, p *Part) ([]T, error) {
	m := b.matrix
	found := make([]T, b.offsets[m.Rows()])
	if err := b.discard(ctx); err != nil {
		return nil, err
	}
	if err := fill(ctx, b, found); err != nil {
		return nil, err
	}
	b.keep, b.kept, b.starts = nil, nil, nil
	base := p.offsets[p.First]
	stored := make([]T, p.offsets[p.End]-base)
	row := func(i int) []T { return stored[p.offsets[i]-base : p.offsets[i+1]-base] }
	err := collectContexts(ctx, router,
		func(i int) []T { return found[b.offsets[i]:b.offsets[i+1]] },
		func(first, end int) { memory.Discard(memory.BytesOf(found[b.offsets[first]:b.offsets[end]])) }, row)
	if err != nil {
		return nil, err
	}
	const grain = 16 // rows
	return stored, parallel.Do(ctx, b.threads, (p.End-p.First+grain-1)/grain, func(task int) {
		for i := p.First + task*grain; i < min(p.First+(task+1)*grain, p.End); i++ {
			shuffle(row(i), b.options.Seed, uint32(i))
		}
	})
}

// Total returns the number of contexts that all ranks store.
func (p *Part) Total() uint64 { return p.offsets[p.Rows()] }

// Save writes the file that Matrix.Save of the whole M writes. All ranks call it; rank 0
// writes, and gets the rows of the others in pieces.
func (p *Part) Save(path string) error {
	if p.narrow != nil {
		return savePart(p, p.narrow, path)
	}
	return savePart(p, p.wide, path)
}

// savedContexts is how many contexts rank 0 gets at a time.
const savedContexts = 1 << 22

func savePart[T id](p *Part, stored []T, path string) error {
	groups := groupContextsOf(p.offsets[p.Rows()])
	layout := newLayout(p.offsets, p.lengths, p.Contexts(), groups)
	// each sends the rows of some groups to rank 0.
	each := func(write func(first, end int, rows []T) error) (err error) {
		for first, end := 0, 0; first < p.Rows(); first = end {
			for end < p.Rows() && (end == first || p.offsets[end]-p.offsets[first] < savedContexts) {
				_, end = layout.Group(layout.GroupOf(end))
			}
			parts := make([][]T, p.comm.Size())
			parts[0] = stored[p.Matrix.offsets[first]:p.Matrix.offsets[end]]
			got, failed := cluster.Exchange(p.comm, parts)
			if failed != nil {
				return failed
			}
			if err == nil { // otherwise the others still send
				var rows []T
				for _, part := range got {
					rows = append(rows, part...)
				}
				err = write(first, end, rows)
			}
		}
		return err
	}
	if p.comm.Rank() > 0 {
		return each(func(int, int, []T) error { return nil })
	}
	whole := &Matrix{options: p.options, fingerprint: p.fingerprint, totals: p.totals, contextCounts: p.contextCounts, lengths: p.lengths, offsets: p.offsets}
	sent := false
	err := atomicfile.Write(path, func(w io.Writer) error {
		sent = true
		f, err := whole.beginFile(w, groups)
		failed := each(func(first, end int, rows []T) error {
			if err != nil {
				return err
			}
			base := p.offsets[first]
			return writeRows(f, first, end, func(i int) []T { return rows[p.offsets[i]-base : p.offsets[i+1]-base] })
		})
		if failed != nil {
			return failed
		}
		return f.end()
	})
	if !sent { // the file could not be made
		_ = each(func(int, int, []T) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("cannot write M: %w", err)
	}
	return nil
}
