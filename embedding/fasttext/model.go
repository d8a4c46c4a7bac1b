package fasttext

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A Model is what vectors need of a fastText model of skip-gram or CBOW. Its
// methods may run concurrently.
type Model struct {
	Words  []string // V words; bytes that are not UTF-8 are written \xNN, as gensim does
	Counts []int64  // of each word in its text

	shape Shape
	dim   int
	raw   []string       // the words as they are in the file
	rows  []byte         // float32 (V + buckets, N)
	index map[string]int // of raw
	close func() error

	outputs []byte // float32 (V, N), of words as contexts; nil: of a tree, or of a compressed file
}

// Shape says which n-grams the model has.
func (m *Model) Shape() Shape { return m.shape }

// Dim is N, the dimension of the vectors.
func (m *Model) Dim() int { return m.dim }

// Close releases a mapped file. Vectors that were handed out stay.
func (m *Model) Close() error {
	m.rows, m.outputs = nil, nil
	if m.close == nil {
		return nil
	}
	release := m.close
	m.close = nil
	return release()
}

// Vectors returns a new table of the vectors of all words, (V, N) in row-major
// order.
func (m *Model) Vectors() []float32 {
	table := make([]float32, len(m.raw)*m.dim)
	parallel.Ranges(runtime.GOMAXPROCS(0), len(m.raw), 1<<10, func(first, end int) {
		for row := first; row < end; row++ {
			m.compose(table[row*m.dim:][:m.dim], row, m.raw[row])
		}
	})
	return table
}

// Contexts returns a new table of the output vectors of all words, (V, N), of a model that was trained with negatives; nil: the
// file has none, or is compressed.
func (m *Model) Contexts() []float32 {
	if len(m.outputs) == 0 {
		return nil
	}
	table := make([]float32, len(m.outputs)/4)
	copy(memory.BytesOf(table), m.outputs)
	return table
}

// Encode writes the vectors of any words to dst, (len(words), N). A word that is
// not of the model has the mean of its n-grams. An infinite or undefined value in
// the file is an error.
func (m *Model) Encode(words []string, dst []float32) error {
	if len(dst) != len(words)*m.dim {
		return fmt.Errorf("vectors of %d words with %d dimensions do not fit in %d values", len(words), m.dim, len(dst))
	}
	for i, word := range words {
		row, ok := m.index[word]
		if !ok {
			row = -1
		}
		vector := dst[i*m.dim:][:m.dim]
		m.compose(vector, row, word)
		for j, x := range vector {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return fmt.Errorf("value %d of the vector of %q is %v: the model is damaged", j+1, word, x)
			}
		}
	}
	return nil
}

// Parts is how many n-grams a word has: each has a vector.
func (m *Model) Parts(word string) int { return len(m.shape.NGrams(nil, word)) }

// NGram writes the row of an n-gram's bucket to dst.
func (m *Model) NGram(bucket uint32, dst []float32) {
	m.add(dst, len(m.raw)+int(bucket), 0)
}

// compose writes the mean of a word's rows to dst; its own row is -1 if it has
// none.
func (m *Model) compose(dst []float32, row int, word string) {
	parts := 0
	if row >= 0 {
		m.add(dst, row, 0)
		parts = 1
	}
	for _, bucket := range m.shape.NGrams(nil, word) {
		m.add(dst, len(m.raw)+int(bucket), parts)
		parts++
	}
	if parts == 0 {
		clear(dst)
	}
	mean(dst, parts)
}

// mean divides a sum as fastText does.
func mean(sum []float32, parts int) {
	if parts < 2 {
		return
	}
	factor := float32(1 / float64(parts))
	for i := range sum {
		sum[i] *= factor
	}
}

// add adds a row of the table to the sum of the parts before it.
func (m *Model) add(dst []float32, row, parts int) {
	values := m.rows[4*row*m.dim:][:4*m.dim]
	for i := range dst {
		x := math.Float32frombits(binary.LittleEndian.Uint32(values[4*i:]))
		if parts > 0 {
			x += dst[i]
		}
		dst[i] = x
	}
}

// readable returns a word as UTF-8, as [textfile.ValidUTF8] does; a word that would be one of those before has its bytes as \xff.
func readable(word string, before map[string]bool) string {
	if utf8.ValidString(word) {
		return word
	}
	if text := textfile.ValidUTF8(word); !before[text] {
		before[text] = true
		return text
	}
	var text []byte
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		if r == utf8.RuneError && size == 1 {
			text = fmt.Appendf(text, `\x%02x`, word[i])
		} else {
			text = append(text, word[i:i+size]...)
		}
		i += size
	}
	return string(text)
}
