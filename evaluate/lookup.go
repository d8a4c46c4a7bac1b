package evaluate

import (
	"fmt"
	"math"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
)

// A Lookup finds the words of a data set in a table. Case is ignored as in gensim and word2vec.c's compute-accuracy: of
// several spellings of a word the first one in the table stands for all.
type Lookup struct {
	Table *embedding.Table
	Limit int // only rows below it count: the most frequent words

	// The first row of each upper-case spelling, and for every row the first one that differs by case at most.
	folded map[string]int
	first  []int32

	capitals bool // a word of the table has a capital letter
}

// NewLookup prepares the search for words in a table. It uses only the first words of the table, the most frequent ones
// where the table is sorted: others are unknown and never an answer. 0: all. Errors: a negative number.
func NewLookup(t *embedding.Table, words int) (*Lookup, error) {
	if words < 0 {
		return nil, fmt.Errorf("the vocabulary cannot be restricted to %d words", words)
	}
	l := &Lookup{Table: t, Limit: t.Len()}
	if words > 0 {
		l.Limit = min(words, t.Len())
	}
	l.folded = make(map[string]int, l.Limit)
	l.first = make([]int32, l.Limit)
	for i, word := range t.Words[:l.Limit] {
		upper := strings.ToUpper(word)
		l.capitals = l.capitals || strings.ToLower(word) != word
		if _, ok := l.folded[upper]; !ok {
			l.folded[upper] = i
		}
		l.first[i] = int32(l.folded[upper])
	}
	return l, nil
}

// Row returns the row of a word.
func (l *Lookup) Row(word string) (row int, ok bool) {
	row, ok = l.folded[strings.ToUpper(word)]
	return row, ok
}

// Rows finds several words; ok is false if one is missing.
func (l *Lookup) Rows(words ...string) (rows []int, ok bool) {
	for _, word := range words {
		row, ok := l.Row(word)
		if !ok {
			return nil, false
		}
		rows = append(rows, row)
	}
	return rows, true
}

// Canonical returns the row that stands for all spellings of row's word.
func (l *Lookup) Canonical(row int) int { return int(l.first[row]) }

// Spelling returns an unknown word as the table would spell it: in lower case where the table has no capital letters.
func (l *Lookup) Spelling(word string) string {
	if !l.capitals {
		return strings.ToLower(word)
	}
	return word
}

// Cosine returns the cosine of two vectors, 0 if one of them is zero. It is
// rounded to float32, so that words with the same vector tie whatever the
// order of summation.
func Cosine(a, b []float32) float64 {
	var aa, bb, ab float64
	for k := range a {
		x, y := float64(a[k]), float64(b[k])
		aa += x * x
		bb += y * y
		ab += x * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(float32(ab / (math.Sqrt(aa) * math.Sqrt(bb))))
}
