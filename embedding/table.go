package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// ErrNotFinite says that a value is NaN or infinite.
var ErrNotFinite = errors.New("not a finite number")

// maxDim is the largest dimension. A file whose header says more is damaged.
const maxDim = 1 << 20

// A Table is a vocabulary with one vector for each word. [NewTable] and [Load]
// make it; nothing changes it afterwards. All methods may run concurrently.
type Table struct {
	Words   []string  // V words in the order of the rows, usually by falling frequency
	Dim     int       // N, the dimension of the vectors
	Vectors []float32 // (V, N), row-major

	index map[string]int

	normalizeOnce sync.Once
	normalized    []float32 // (V, N), rows of length 1
}

// IndexBytes is about the memory of a word in the index of a table: string, row and control byte, in a
// map that is half full.
const IndexBytes = 2 * (16 + 8 + 1)

// NewTable makes a table of len(words) rows with dim values each. It keeps both
// slices and copies neither. Errors: no words, a dimension below 1 or above 2^20,
// a length of vectors other than len(words)*dim, a word that is empty, repeated or
// not UTF-8, NaN and infinity.
func NewTable(words []string, dim int, vectors []float32) (*Table, error) {
	if len(words) == 0 {
		return nil, errors.New("a table needs at least one word")
	}
	if err := checkDim(int64(dim)); err != nil {
		return nil, err
	}
	// Division, because len(words)*dim may overflow on 32-bit machines.
	if len(vectors)%dim != 0 || len(vectors)/dim != len(words) {
		return nil, fmt.Errorf("%d values do not make %d vectors of dimension %d", len(vectors), len(words), dim)
	}
	for i, w := range words {
		if err := checkText(w, i); err != nil {
			return nil, err
		}
	}
	if i := firstNotFinite(vectors); i >= 0 {
		return nil, notFinite(words[i/dim], i/dim, i%dim, vectors[i])
	}
	t := &Table{Words: words, Dim: dim, Vectors: vectors}
	if err := t.makeIndex(); err != nil {
		return nil, err
	}
	return t, nil
}

// makeIndex makes the index. The error is of a word that occurs twice, or of memory.
func (t *Table) makeIndex() error {
	done, err := memory.Room(IndexBytes * int64(len(t.Words)))
	if err != nil {
		return fmt.Errorf("an index of %d words: %w", len(t.Words), err)
	}
	defer done()
	t.index = make(map[string]int, len(t.Words))
	for i, w := range t.Words {
		if first, ok := t.index[w]; ok {
			return fmt.Errorf("word %q occurs twice: it is word %d and word %d", w, first+1, i+1)
		}
		t.index[w] = i
	}
	return nil
}

// firstNotFinite returns the place of the first value that is NaN or infinite; -1: none is.
func firstNotFinite(values []float32) int {
	const together = 1 << 20
	found := make([]int, (len(values)+together-1)/together) // the first place of each part, counted from 1; 0: there is none
	parallel.Ranges(runtime.GOMAXPROCS(0), len(values), together, func(first, end int) {
		if i := slices.IndexFunc(values[first:end], func(v float32) bool { return !Finite(v) }); i >= 0 {
			found[first/together] = first + i + 1
		}
	})
	return cmp.Or(found...) - 1
}

// checkDim returns an error if dim is not a possible dimension.
func checkDim(dim int64) error {
	if dim < 1 || dim > maxDim {
		return fmt.Errorf("dimension %d is not between 1 and %d", dim, maxDim)
	}
	return nil
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float32) bool {
	const exponent = 0x7f800000
	return math.Float32bits(v)&exponent != exponent
}

// Len returns V, the number of words.
func (t *Table) Len() int { return len(t.Words) }

// Index returns the row of a word. The spelling must match exactly.
func (t *Table) Index(word string) (row int, ok bool) {
	row, ok = t.index[word]
	return row, ok
}

func (t *Table) rows() Rows {
	return Rows{Words: t.Words, Dim: t.Dim, Vector: func(i int, _ []float32) []float32 { return t.Vector(i) }}
}

// Vector returns row i: N values, which are part of the table. Do not change them.
func (t *Table) Vector(i int) []float32 {
	return t.Vectors[i*t.Dim : (i+1)*t.Dim : (i+1)*t.Dim]
}

// Normalized returns all rows scaled to length 1: (V, N), row-major. A row of zeros
// stays zero. The first call computes the values and the table keeps them, which
// doubles its memory. Do not change them.
func (t *Table) Normalized() []float32 {
	t.normalizeOnce.Do(func() {
		t.normalized = slices.Clone(t.Vectors)
		for i := 0; i < len(t.normalized); i += t.Dim {
			normalize(t.normalized[i : i+t.Dim])
		}
	})
	return t.normalized
}

// normalize scales v to length 1. It sums in float64, where no square of a float32
// overflows or vanishes.
func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
