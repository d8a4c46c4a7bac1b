package wordcontext

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// Open maps the matrix file at path into memory and checks every byte. If it
// refuses the file, the error wraps ErrNotMatrix, ErrVersion, ErrTruncated or
// ErrCorrupt; otherwise it wraps an error of the system. Close releases the matrix.
//
// No program may write into the file while it is open. Save may be called: it puts
// a new file in its place.
func Open(path string) (*Matrix, error) { return explainedOpen(path, false) }

// OpenBounded is Open for a file that is larger than the memory: its pages are
// released when they were read, here and in Samples.
func OpenBounded(path string) (*Matrix, error) { return explainedOpen(path, true) }

func explainedOpen(path string, bounded bool) (*Matrix, error) {
	m, err := open(path, bounded, true)
	if err == nil {
		return m, nil
	}
	var pathError *os.PathError
	switch {
	case errors.As(err, &pathError):
		return nil, fmt.Errorf("cannot open the matrix file: %w", err)
	case errors.Is(err, ErrNotMatrix):
		return nil, fmt.Errorf("%s: %w; name a file that w2vcl matrix build wrote", path, err)
	}
	return nil, fmt.Errorf("%s: %w; build the matrix again with w2vcl matrix build", path, err)
}

// open maps a file. It checks the stored contexts unless this process has just written
// them.
func open(path string, bounded, check bool) (_ *Matrix, err error) {
	data, content, unmap, err := format.Map(path)
	if err != nil {
		return nil, err
	}
	defer content.Close() // it was only read, and the mapping stays
	d := decoder{}
	if check {
		d.content = content
	}
	m, err := d.decode(data)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	m.unmap, m.bounded = unmap, bounded
	return m, nil
}

type decoder struct {
	content io.ReaderAt // whose checksums and stored contexts are checked, too; nil: they are not
}

// decode returns the matrix of a file with the given bytes. The arrays of the
// matrix are parts of data.
func (d *decoder) decode(data []byte) (*Matrix, error) {
	h, err := decodeHeader(data, uint64(len(data)))
	if err != nil {
		return nil, err
	}
	body := data[headerSize:][:h.bodySize()]
	if d.content != nil {
		if err := format.Check(d.content, uint64(len(body)), runtime.GOMAXPROCS(0), h.checkIDs); err != nil {
			return nil, err
		}
	}
	m := &Matrix{options: h.options().defining(), fingerprint: h.Fingerprint}
	// next returns the next size bytes of the body.
	next := func(size uint64) (part []byte) {
		part, body = body[:size], body[size:]
		return part
	}
	m.totals = memory.NumbersOf[uint64](next(8 * h.Rows))
	m.contextCounts = memory.NumbersOf[uint64](next(8 * h.Rows))
	m.lengths = memory.NumbersOf[uint32](next(4 * h.Rows))
	if h.Width == 2 {
		m.narrow = memory.NumbersOf[uint16](body)
	} else {
		m.wide = memory.NumbersOf[uint32](body)
	}
	if err := m.checkLengths(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if m.setOffsets() != h.Stored {
		return nil, fmt.Errorf("%w: the lengths of its rows do not add up", ErrCorrupt)
	}
	m.tiles = newLayout(m.offsets, m.lengths, m.Contexts(), uint64(h.GroupContexts))
	return m, nil
}

// checkLengths computes what follows from the lengths of the rows. It returns an
// error if Build cannot have made them.
func (m *Matrix) checkLengths() error {
	tempered, l := m.options.tempered(), uint32(m.Contexts())
	for i, length := range m.lengths {
		if tempered && (length > maxContexts || (length == 0) != (m.totals[i] == 0)) || !tempered && length != l {
			return fmt.Errorf("row %d cannot have %d entries of %d contexts", i, length, m.totals[i])
		}
	}
	return m.setShares()
}

// checkIDs returns an error if a stored context in a piece of the body is not a word id
// below the rows.
func (h *header) checkIDs(first int, part []byte) error {
	stored := int(20 * h.Rows)
	part = part[min(max(stored-first, 0), len(part)):]
	var largest uint32
	if h.Width == 2 {
		largest = uint32(largestOf(memory.NumbersOf[uint16](part)))
	} else {
		largest = largestOf(memory.NumbersOf[uint32](part))
	}
	if uint64(largest) >= h.Rows {
		return fmt.Errorf("%w: it holds word id %d, but it has %d words", ErrCorrupt, largest, h.Rows)
	}
	return nil
}

func largestOf[T id](ids []T) (largest T) {
	for _, id := range ids {
		largest = max(largest, id)
	}
	return largest
}
