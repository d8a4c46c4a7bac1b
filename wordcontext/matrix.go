package wordcontext

import (
	"fmt"
	"math"
	"sync"

	"github.com/w2vcl/w2vcl/corpus"
)

// These are no word ids.
const (
	// NoContext is every entry of a row without contexts. Its word is alone in all
	// its sentences. Trainers skip the entry.
	NoContext = math.MaxUint32

	// NoSample fills the slots of a row that its share in an iteration leaves empty.
	NoSample = math.MaxUint32 - 1
)

// A Matrix is the word-context matrix M of V rows: row i holds l_i contexts of word
// i, as word ids. A short row is stored without its repetitions. The package comment
// defines every entry and what of a row each iteration reads. Any number of goroutines may call the
// methods at the same time, except Close. After Close, the methods that read
// contexts panic.
type Matrix struct {
	options     Options // without Threads and Progress
	fingerprint uint64  // of the corpus

	totals        []uint64 // n_i: contexts found in the text, by row
	contextCounts []uint64 // number of times each word is a context
	lengths       []uint32 // l_i: entries, by row
	phases        []uint32 // f_i, below l: the place of the row's shares among the iterations
	slots         []uint32 // samples of row i are in slots[i]:slots[i+1] of those of an iteration

	// Row i is stored in offsets[i]:offsets[i+1] of narrow, or of wide if the
	// vocabulary is too large for ids of 16 bits. The other slice is nil. Narrow
	// ids halve the memory, the file and the memory traffic.
	offsets []uint64
	narrow  []uint16
	wide    []uint32

	// A tiled file holds the contexts of a row in several pieces. Then narrow or wide
	// is in the order of the tiles, and offsets tell only how many contexts rows have.
	tiles *tileLayout // nil: row after row

	unmap   func() error // releases the mapped file; nil: the matrix was built
	bounded bool         // pages of the mapped file are released when they were read

	// Row after row, for Layout.
	untile     sync.Once
	rowsNarrow []uint16
	rowsWide   []uint32
}

// An id is a stored word id.
type id interface{ uint16 | uint32 }

func newMatrix(rows int, o Options) *Matrix {
	return &Matrix{
		options:       o.defining(),
		totals:        make([]uint64, rows),
		contextCounts: make([]uint64, rows),
	}
}

// isNarrow reports whether the ids of V = rows words are stored in 16 bits.
func isNarrow(rows int) bool { return rows <= 1<<16 }

// idBytes returns the bytes of a stored context.
func idBytes(rows int) int64 {
	if isNarrow(rows) {
		return 2
	}
	return 4
}

// setOffsets computes the places of the rows from totals and lengths and returns
// the number of stored contexts.
func (m *Matrix) setOffsets() uint64 {
	m.offsets = make([]uint64, len(m.totals)+1)
	var stored uint64
	for i, total := range m.totals {
		stored += min(total, uint64(m.lengths[i]))
		m.offsets[i+1] = stored
	}
	return stored
}

// layOut sets what follows from totals. It returns an error if a row is too long.
func (m *Matrix) layOut() (err error) {
	if m.lengths, err = rowLengths(m.totals, &m.options); err != nil {
		return err
	}
	if err := m.setShares(); err != nil {
		return err
	}
	m.setOffsets()
	return nil
}

// allocate allocates the stored rows, after layOut.
func (m *Matrix) allocate() {
	if isNarrow(m.Rows()) {
		m.narrow = make([]uint16, m.Stored())
	} else {
		m.wide = make([]uint32, m.Stored())
	}
}

// Rows returns V, the number of words.
func (m *Matrix) Rows() int { return len(m.totals) }

// Contexts returns l, the number of iterations of an epoch.
func (m *Matrix) Contexts() int { return m.options.Contexts }

// Options returns the options that M was built with. Threads and Progress are
// zero, and so is MaxPositives if it has no effect; Positives is not 0.
func (m *Matrix) Options() Options { return m.options }

// Seed returns the seed of M's random choices: Options().Seed.
func (m *Matrix) Seed() uint64 { return m.options.Seed }

// Fingerprint returns the fingerprint of the corpus that M was built from.
func (m *Matrix) Fingerprint() uint64 { return m.fingerprint }

// Stored returns the number of contexts that all rows together store, the sum of
// min(n_i, l_i).
func (m *Matrix) Stored() uint64 { return m.offsets[len(m.offsets)-1] }

// Bytes returns the memory of M in bytes: 2 or 4 for each stored context, and
// bytesPerRow for each row. M of OpenBounded or BuildFile needs less: see Resident.
func (m *Matrix) Bytes() int64 {
	return 2*int64(len(m.narrow)) + 4*int64(len(m.wide)) + bytesPerRow*int64(m.Rows())
}

// Bounded reports whether the stored contexts stay on the disk: M is a file that
// OpenBounded or BuildFile opened.
func (m *Matrix) Bounded() bool { return m.bounded }

// Resident returns about how much memory M takes while so many threads read it, in
// bytes: Bytes, unless M is bounded.
func (m *Matrix) Resident(threads int) int64 {
	if !m.bounded {
		return m.Bytes()
	}
	return residentBytes(m.Rows(), m.Stored(), threads)
}

// bytesPerRow counts three numbers of 8 bytes and three of 4: totals, contextCounts,
// offsets, lengths, phases, slots.
const bytesPerRow = 3*8 + 3*4

// RowLength returns l_i, the number of entries of row i. Training reads each of them
// once in an epoch.
func (m *Matrix) RowLength(i int) int { return int(m.lengths[i]) }

// Tempered reports whether rows may differ in length from l. If not, every row has one
// sample in every iteration.
func (m *Matrix) Tempered() bool { return m.options.tempered() }

// ContextCounts returns V counts: the number of times that each word is a context
// in all passes over the text, before rows are cut or repeated. As weights of
// the negatives, these counts make both steps of W2V-CL optimise one objective;
// counts taken from the finished M do not. The slice is a copy.
func (m *Matrix) ContextCounts() []uint64 {
	return append([]uint64(nil), m.contextCounts...)
}

// Row returns a copy of the min(n_i, l_i) stored contexts of word i, in their
// stored order.
func (m *Matrix) Row(i int) []uint32 {
	row := make([]uint32, m.offsets[i+1]-m.offsets[i])
	r := m.row(i)
	for k := range row {
		row[k] = m.stored(r.Place(uint32(k)))
	}
	return row
}

// row returns where the contexts of row i are stored.
func (m *Matrix) row(i int) tiledRow {
	if m.tiles == nil {
		return wholeRow(m.offsets[i], m.offsets[i+1])
	}
	return m.tiles.Row(i)
}

func (m *Matrix) stored(place uint64) uint32 {
	if m.narrow != nil {
		return uint32(m.narrow[place])
	}
	return m.wide[place]
}

// Layout returns the arrays of M, for kernels that compute At and Share themselves.
// Row i is offsets[i]:offsets[i+1] of narrow or of wide; the other slice is nil.
// offsets has V+1 elements. lengths and phases have V: the l_i and f_i of the package
// comment. The caller must not change the slices, nor use them after Close.
//
// A file holds rows in pieces. Then the first call of Layout puts them together, in
// as much memory as Bytes says.
func (m *Matrix) Layout() (offsets []uint64, narrow []uint16, wide, lengths, phases []uint32) {
	m.untile.Do(func() {
		switch {
		case m.tiles == nil:
			m.rowsNarrow, m.rowsWide = m.narrow, m.wide
		case m.narrow != nil:
			m.rowsNarrow = untiled(m, m.narrow)
		default:
			m.rowsWide = untiled(m, m.wide)
		}
	})
	return m.offsets, m.rowsNarrow, m.rowsWide, m.lengths, m.phases
}

// Shares returns the l_i and the f_i of the rows, as Layout does.
func (m *Matrix) Shares() (lengths, phases []uint32) { return m.lengths, m.phases }

// At returns entry (i, q): a context of word i, or NoContext. It panics unless
// 0 <= i < V and 0 <= q < l_i. It is the plain definition of an entry; Samples reads
// many entries fast.
func (m *Matrix) At(i, q int) uint32 {
	if q < 0 || q >= m.RowLength(i) {
		panic(fmt.Sprintf("wordcontext: entry %d of row %d is out of range: the row has %d entries", q, i, m.RowLength(i)))
	}
	n := uint32(m.offsets[i+1] - m.offsets[i])
	if n == 0 {
		return NoContext
	}
	round, position := uint32(q)/n, uint32(q)%n
	if round > 0 && !m.Tempered() {
		var o roundOrder
		o.Set(m.options.Seed, corpus.StreamDuplicate.Sub(round), uint32(i), n)
		position = o.At(position)
	}
	row := m.row(i)
	return m.stored(row.Place(position))
}

// Matches returns nil if Build would make this matrix from the corpus with the
// options. Otherwise its error names the first difference. Threads and Progress
// do not count. The text comes first, because some options follow from it.
func (m *Matrix) Matches(c *corpus.Corpus, o Options) error {
	switch {
	case m.Rows() != c.Vocabulary.Len():
		return fmt.Errorf("the matrix was built from another text: it has %d words, not %d", m.Rows(), c.Vocabulary.Len())
	case m.fingerprint != c.Fingerprint():
		return fmt.Errorf("the matrix was built from another text: its fingerprint is %s, not %s", corpus.Hex(m.fingerprint), corpus.Hex(c.Fingerprint()))
	}
	is := &m.options
	o = o.defining()
	for _, x := range []struct {
		name     string
		is, want any
	}{
		{"window", is.Window, o.Window},
		{"contexts", is.Contexts, o.Contexts},
		{"tempering", is.Tempering, o.Tempering},
		{"positives", is.Positives, o.Positives},
		{"a maximum of positives of", is.MaxPositives, o.MaxPositives},
		{"sample", is.Sample, o.Sample},
		{"passes", is.Passes, o.Passes},
		{"dynamic windows", is.DynamicWindow, o.DynamicWindow},
		{"rows in the order of the text", is.InOrder, o.InOrder},
		{"seed", is.Seed, o.Seed},
	} {
		if x.is != x.want {
			return fmt.Errorf("the matrix was built with %s %v, not %v", x.name, x.is, x.want)
		}
	}
	return nil
}

// Close releases the memory and returns the error of unmapping the file, if any.
// No other method may run at the same time. The copies that Row and ContextCounts
// returned stay valid. A later call of a method that reads contexts panics, and
// never reads unmapped memory. A second Close does nothing.
func (m *Matrix) Close() error {
	unmap := m.unmap
	*m = Matrix{}
	if unmap == nil {
		return nil
	}
	return unmap()
}
