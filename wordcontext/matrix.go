package wordcontext

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
)

// NoContext is the entry of a row without any context: a word that is alone in
// all its sentences. Trainers skip it.
const NoContext = math.MaxUint32

// A Matrix is the word-context matrix M: V rows, one for each word, of l
// context word ids each. Rows are stored without the repetitions of short rows;
// the package comment says which entry is which. Its methods may be called by
// any number of goroutines, but for Close. After Close the methods that need
// contexts panic.
type Matrix struct {
	options     Options // without Threads and Progress
	fingerprint uint64  // of the corpus

	totals        []uint64 // contexts found, by row
	contextCounts []uint64 // how often each word is a context

	// Row i is stored in offsets[i]:offsets[i+1] of narrow, which has 16 bits
	// for an id, or of wide if the vocabulary is too large for that. The other
	// is nil. Narrow ids halve memory, file and traffic.
	offsets []uint64
	narrow  []uint16
	wide    []uint32

	unmap func() error // of a matrix that was opened
}

// An id is a stored word id.
type id interface{ uint16 | uint32 }

func newMatrix(rows int, o Options) *Matrix {
	o.Threads, o.Progress = 0, nil
	return &Matrix{
		options:       o,
		totals:        make([]uint64, rows),
		contextCounts: make([]uint64, rows),
	}
}

// isNarrow says whether the ids of so many words are stored in 16 bits.
func isNarrow(rows int) bool { return rows <= 1<<16 }

// setOffsets computes the places of the rows from totals and returns the
// number of stored contexts.
func (m *Matrix) setOffsets() uint64 {
	m.offsets = make([]uint64, len(m.totals)+1)
	var stored uint64
	for i, total := range m.totals {
		stored += min(total, uint64(m.options.Contexts))
		m.offsets[i+1] = stored
	}
	return stored
}

// allocate makes room for the contexts that totals calls for.
func (m *Matrix) allocate() {
	stored := m.setOffsets()
	if isNarrow(m.Rows()) {
		m.narrow = make([]uint16, stored)
	} else {
		m.wide = make([]uint32, stored)
	}
}

// Rows returns V, the number of words.
func (m *Matrix) Rows() int { return len(m.totals) }

// Contexts returns l, the number of columns.
func (m *Matrix) Contexts() int { return m.options.Contexts }

// Options returns the options M was built with, without Threads and Progress.
func (m *Matrix) Options() Options { return m.options }

// Seed returns the seed of M's random choices: Options().Seed.
func (m *Matrix) Seed() uint64 { return m.options.Seed }

// Fingerprint returns the fingerprint of the corpus M was built of.
func (m *Matrix) Fingerprint() uint64 { return m.fingerprint }

// Stored returns the number of contexts stored in all rows together.
func (m *Matrix) Stored() uint64 { return m.offsets[len(m.offsets)-1] }

// RowTotal returns n_i, the number of contexts that word i has in all passes
// over the text.
func (m *Matrix) RowTotal(i int) uint64 { return m.totals[i] }

// ContextCounts returns how often each word is a context of another in all
// passes over the text: the sums of M's columns before rows are cut to l or
// filled up. As weights of the negatives they make both steps of W2V-CL optimise
// one objective, which the sums of the finished M do not. The slice is a copy.
func (m *Matrix) ContextCounts() []uint64 {
	return append([]uint64(nil), m.contextCounts...)
}

// Row returns a copy of the stored contexts of word i, min(n_i, l) of them in
// their random order.
func (m *Matrix) Row(i int) []uint32 {
	from, to := m.offsets[i], m.offsets[i+1]
	row := make([]uint32, to-from)
	if m.narrow == nil {
		copy(row, m.wide[from:to])
		return row
	}
	for k, id := range m.narrow[from:to] {
		row[k] = uint32(id)
	}
	return row
}

// Layout returns M as it is stored, for kernels that compute At themselves: row i
// is offsets[i]:offsets[i+1] of narrow or of wide, the other of which is nil. The
// slices are not to be changed, and not to be used after Close.
func (m *Matrix) Layout() (offsets []uint64, narrow []uint16, wide []uint32) {
	return m.offsets, m.narrow, m.wide
}

// At returns entry (i, j), 0 <= j < l: a context of word i, or NoContext.
// It is the plain definition; Block is the fast way to many entries.
func (m *Matrix) At(i, j int) uint32 {
	if j < 0 || j >= m.Contexts() {
		panic(fmt.Sprintf("wordcontext: column %d of %d", j, m.Contexts()))
	}
	from := m.offsets[i]
	n := uint32(m.offsets[i+1] - from)
	if n == 0 {
		return NoContext
	}
	round, position := uint32(j)/n, uint32(j)%n
	if round > 0 {
		var o order
		o.set(m.options.Seed, round, uint32(i), n)
		position = o.at(position)
	}
	if m.narrow != nil {
		return uint32(m.narrow[from+uint64(position)])
	}
	return m.wide[from+uint64(position)]
}

// Matches returns nil if Build would make this matrix of the corpus with the
// options, or else an error that says what differs. Threads and Progress do not
// count.
func (m *Matrix) Matches(c *corpus.Corpus, o Options) error {
	differs := func(what string, is, want any) error {
		return fmt.Errorf("the matrix was built with %s %v, not %v", what, is, want)
	}
	is := &m.options
	switch {
	case is.Window != o.Window:
		return differs("window", is.Window, o.Window)
	case is.Contexts != o.Contexts:
		return differs("contexts", is.Contexts, o.Contexts)
	case is.Sample != o.Sample:
		return differs("sample", is.Sample, o.Sample)
	case is.Passes != o.Passes:
		return differs("passes", is.Passes, o.Passes)
	case is.DynamicWindow != o.DynamicWindow:
		return differs("dynamic windows", is.DynamicWindow, o.DynamicWindow)
	case is.Seed != o.Seed:
		return differs("seed", is.Seed, o.Seed)
	case m.Rows() != c.Vocabulary.Len():
		return fmt.Errorf("the matrix was built of another text: it has %d words, not %d", m.Rows(), c.Vocabulary.Len())
	case m.fingerprint != c.Fingerprint():
		return fmt.Errorf("the matrix was built of another text: its fingerprint is %016x, not %016x", m.fingerprint, c.Fingerprint())
	}
	return nil
}

// Close releases the memory. Slices that Row and the like returned stay valid,
// they are copies. No other method may run at the same time; later calls panic
// with an index out of range, they never touch the unmapped memory.
func (m *Matrix) Close() error {
	unmap := m.unmap
	*m = Matrix{}
	if unmap == nil {
		return nil
	}
	return unmap()
}
