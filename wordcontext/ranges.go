package wordcontext

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/wordcontext/tiles"
)

// ErrMemory is wrapped by the error of BuildFile about memory that does not suffice for
// one group of rows.
var ErrMemory = errors.New("too little memory to build M, even on the disk")

// BuildFile makes the file that Save would write of the matrix that Build makes, the
// same to the bit, in about so many bytes of memory beside the text, and opens it as
// OpenBounded does. It scans the text once to count, and once more for each range of
// rows that fits the memory: see EstimateFile. It replaces the file at path completely
// or not at all. Errors are those of Build and Save, and ErrMemory.
func BuildFile(ctx context.Context, c *corpus.Corpus, o Options, path string, bytes int64) (*Matrix, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := checkCorpus(c); err != nil {
		return nil, err
	}
	if err := checkByteOrder(); err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := buildFile(ctx, c, o, path, bytes, tiles.GroupContexts); err != nil {
		return nil, err
	}
	return open(path, true, false)
}

// buildFile makes the file, with groups that end after so many contexts.
func buildFile(ctx context.Context, c *corpus.Corpus, o Options, path string, bytes int64, groupContexts uint64) error {
	// Counting takes at most a quarter: the more, the better threads share a scan.
	b := newBuilder(c, o, bytes/4)
	b.progress.total = 2 * b.scan.visits()
	if err := b.count(ctx); err != nil {
		return err
	}
	m := b.matrix
	layout := tiles.New(m.offsets, m.lengths, m.Contexts(), groupContexts)
	r := newRanger(m.totals, m.lengths, b.threads, len(b.spans))
	ranges, err := r.ranges(layout, m.offsets, bytes)
	if err != nil {
		return err
	}
	// All scans, and shuffling.
	b.progress.total = int64(2+len(ranges)) * b.scan.visits()
	return atomicfile.Write(path, func(w io.Writer) error {
		f, err := m.beginFile(w, groupContexts)
		if err != nil {
			return err
		}
		if isNarrow(m.Rows()) {
			err = writeRanges[uint16](ctx, b, f, ranges)
		} else {
			err = writeRanges[uint32](ctx, b, f, ranges)
		}
		if err != nil {
			return err
		}
		return f.end()
	})
}

// writeRanges makes the rows of one range after the other and writes them.
func writeRanges[T id](ctx context.Context, b *builder, f *fileWriter, ranges []span) error {
	m, most := b.matrix, uint64(0)
	for _, r := range ranges {
		most = max(most, m.offsets[r.to]-m.offsets[r.from])
	}
	stored := make([]T, most)
	for _, r := range ranges {
		first := m.offsets[r.from]
		if err := makeRows(ctx, b, r.from, r.to, stored[:m.offsets[r.to]-first]); err != nil {
			return err
		}
		err := writeRows(f, r.from, r.to, func(i int) []T { return stored[m.offsets[i]-first : m.offsets[i+1]-first] })
		if err != nil {
			return err
		}
	}
	return nil
}

// A ranger cuts rows into ranges that are built in bounded memory.
type ranger struct {
	totals  []uint64 // n_i
	lengths []uint32 // l_i
	threads int
	spans   int
	idBytes int64
}

func newRanger(totals []uint64, lengths []uint32, threads, spans int) *ranger {
	r := &ranger{totals: totals, lengths: lengths, threads: threads, spans: spans, idBytes: 4}
	if isNarrow(len(totals)) {
		r.idBytes = 2
	}
	return r
}

// fixed returns the memory of building beside a range, in bytes: the tables of all rows
// and the counts of the spans.
func (r *ranger) fixed(stored uint64) int64 {
	rows := int64(len(r.totals))
	return bytesPerRow*rows + 2*tiles.Bytes(len(r.totals), stored) + 8*rows*int64(r.spans)
}

// cost returns the memory of building row i, in bytes, with the counts and places that
// spans and threads have of it.
func (r *ranger) cost(i int) int64 {
	n, cost := r.totals[i], int64(8+16*r.threads)
	if length := uint64(r.lengths[i]); n > length {
		cost += int64(n/8) + 16 + 4*int64(r.spans)
		n = length
	}
	return cost + int64(n)*r.idBytes
}

// ranges cuts the rows into ranges of whole groups that are built in so many bytes. The
// error wraps ErrMemory.
func (r *ranger) ranges(layout *tiles.Layout, offsets []uint64, bytes int64) ([]span, error) {
	group := int64(0) // memory to write the largest one
	for g := range layout.Groups() {
		if from, to := layout.Group(g); to > from+1 {
			group = max(group, r.idBytes*int64(offsets[to]-offsets[from]))
		}
	}
	fixed := r.fixed(offsets[len(offsets)-1]) + group
	var ranges []span
	left, most := int64(-1), int64(0)
	for g := range layout.Groups() {
		from, to := layout.Group(g)
		cost := int64(0)
		for i := from; i < to; i++ {
			cost += r.cost(i)
		}
		most = max(most, cost)
		if left < cost {
			ranges = append(ranges, span{from: from, to: from})
			left = bytes - fixed
		}
		ranges[len(ranges)-1].to = to
		left -= cost
	}
	if most > bytes-fixed {
		return nil, fmt.Errorf("%w: it takes %s, and %s are left", ErrMemory, terminal.Bytes(fixed+most), terminal.Bytes(max(bytes, 0)))
	}
	return ranges, nil
}

// A FileEstimate says what BuildFile takes.
type FileEstimate struct {
	Bytes int64 // of the file
	Scans int   // of the text, all passes each
}

// EstimateFile estimates what BuildFile takes with so many bytes of memory. It reads
// only the counts of the words. The error is one of Build, as far as it can tell, or
// wraps ErrMemory.
func EstimateFile(c *corpus.Corpus, o Options, bytes int64) (FileEstimate, error) {
	m, err := expected(c, o)
	if err != nil {
		return FileEstimate{}, err
	}
	h := m.header(tiles.GroupContexts)
	estimate := FileEstimate{Bytes: int64(h.FileSize)}
	layout := tiles.New(m.offsets, m.lengths, m.Contexts(), tiles.GroupContexts)
	r := newRanger(m.totals, m.lengths, o.threads(), spanCount(c, &o, bytes/4))
	ranges, err := r.ranges(layout, m.offsets, bytes)
	estimate.Scans = 1 + len(ranges)
	return estimate, err
}

// residentBytes is about how much memory a bounded matrix of so many rows takes while
// threads read it.
func residentBytes(rows int, stored uint64, threads int) int64 {
	idBytes := int64(4)
	if isNarrow(rows) {
		idBytes = 2
	}
	read := min(tiles.GroupContexts*int64(threads), int64(stored))
	return bytesPerRow*int64(rows) + tiles.Bytes(rows, stored) + idBytes*read
}

// EstimateResident estimates how much memory a matrix of BuildFile takes while so many
// threads read it, in bytes; 0 for options or a corpus that Build refuses.
func EstimateResident(c *corpus.Corpus, o Options, threads int) int64 {
	m, err := expected(c, o)
	if err != nil {
		return 0
	}
	return residentBytes(m.Rows(), m.Stored(), threads)
}
