package wordcontext

import (
	"context"
	"errors"
	"io"
	"runtime/debug"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
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
	if err := checkInput(c, &o); err != nil {
		return nil, err
	}
	if err := buildFile(ctx, c, o, path, bytes, 0); err != nil {
		return nil, err
	}
	return open(path, true, false)
}

// buildFile makes the file, with groups that end after so many contexts; 0 means as many
// as in the file of Save.
func buildFile(ctx context.Context, c *corpus.Corpus, o Options, path string, bytes int64, groupContexts uint64) error {
	// Counting takes at most a quarter: the more, the better threads share a scan.
	b := newBuilder(c, o, bytes/4)
	b.progress.total = 2 * b.scan.visits()
	if err := b.count(ctx); err != nil {
		return err
	}
	m := b.matrix
	if groupContexts == 0 {
		groupContexts = groupContextsOf(m.Stored())
	}
	layout := newLayout(m.offsets, m.lengths, m.Contexts(), groupContexts)
	ranges, _, err := b.matrix.costs(b.threads, len(b.spans)).Ranges(layout, bytes)
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
func writeRanges[T id](ctx context.Context, b *builder, f *fileWriter, ranges []rowRange) error {
	m, most := b.matrix, uint64(0)
	for _, r := range ranges {
		most = max(most, m.offsets[r.End]-m.offsets[r.First])
	}
	stored := make([]T, most)
	for _, r := range ranges {
		// What the range before took is garbage, which only the limit of memory would end.
		b.keep, b.keepAt, b.kept = nil, nil, nil
		debug.FreeOSMemory()
		first := m.offsets[r.First]
		if err := makeRows(ctx, b, r.First, r.End, stored[:m.offsets[r.End]-first]); err != nil {
			return err
		}
		err := writeRows(f, r.First, r.End, func(i int) []T { return stored[m.offsets[i]-first : m.offsets[i+1]-first] })
		if err != nil {
			return err
		}
	}
	return nil
}

// costs returns what building takes.
func (m *Matrix) costs(threads, spans int) rowCosts {
	return rowCosts{
		Totals: m.totals, Lengths: m.lengths, Threads: threads, Spans: spans, IDBytes: idBytes(m.Rows()),
		Fixed: (bytesPerRow + 8*int64(spans)) * int64(m.Rows()), // the counts of the spans
	}
}

// A FileEstimate says what BuildFile takes.
type FileEstimate struct {
	Bytes  int64 // of the file
	Scans  int   // of the text, all passes each
	Memory int64 // of building, at its peak, in bytes
}

// EstimateFile estimates what BuildFile takes with so many bytes of memory. It reads
// what EstimateBytes does. The error is one of Build, as far as it can tell, or
// wraps ErrMemory.
func EstimateFile(c *corpus.Corpus, o Options, bytes int64) (FileEstimate, error) {
	m, err := expected(c, o)
	if err != nil {
		return FileEstimate{}, err
	}
	groupContexts := groupContextsOf(m.Stored())
	h := m.header(groupContexts)
	estimate := FileEstimate{Bytes: int64(h.FileSize)}
	layout := newLayout(m.offsets, m.lengths, m.Contexts(), groupContexts)
	ranges, peak, err := m.costs(o.threads(), spanCount(c, &o, bytes/4)).Ranges(layout, bytes)
	estimate.Scans, estimate.Memory = 1+len(ranges), peak
	return estimate, err
}

// residentBytes is about how much memory a bounded matrix of so many rows takes while
// threads read it.
func residentBytes(rows int, stored uint64, threads int) int64 {
	read := min(int64(groupContextsOf(stored))*int64(threads), int64(stored))
	return bytesPerRow*int64(rows) + layoutBytes(rows, stored) + idBytes(rows)*read
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
