package evaluate

import (
	"math"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
)

// A lookup finds the words of a data set in a table under the rules of the
// options.
type lookup struct {
	table *embedding.Table
	limit int // rows that exist: the most frequent words

	// Where case is ignored: the first row of each upper-case spelling, and
	// for every row the first one that differs by case at most. Else nil.
	folded map[string]int
	first  []int32

	capitals bool // a word of the table has a capital letter
}

func newLookup(t *embedding.Table, o Options) *lookup {
	l := &lookup{table: t, limit: t.Len()}
	if o.RestrictVocab > 0 {
		l.limit = min(o.RestrictVocab, t.Len())
	}
	if o.CaseSensitive {
		return l
	}
	l.folded = make(map[string]int, l.limit)
	l.first = make([]int32, l.limit)
	for i, word := range t.Words[:l.limit] {
		upper := strings.ToUpper(word)
		l.capitals = l.capitals || strings.ToLower(word) != word
		if _, ok := l.folded[upper]; !ok {
			l.folded[upper] = i
		}
		l.first[i] = int32(l.folded[upper])
	}
	return l
}

// row returns the row of a word.
func (l *lookup) row(word string) (row int, ok bool) {
	if l.folded != nil {
		row, ok = l.folded[strings.ToUpper(word)]
		return row, ok
	}
	row, ok = l.table.Index(word)
	return row, ok && row < l.limit
}

// rows finds several words; ok is false if one is missing.
func (l *lookup) rows(words ...string) (rows []int, ok bool) {
	for _, word := range words {
		row, ok := l.row(word)
		if !ok {
			return nil, false
		}
		rows = append(rows, row)
	}
	return rows, true
}

// canonical returns the row that stands for all spellings of row's word.
func (l *lookup) canonical(row int) int {
	if l.first == nil {
		return row
	}
	return int(l.first[row])
}

// meanVector returns the mean of all rows.
func (l *lookup) meanVector() []float32 {
	sums := make([]float64, l.table.Dim)
	for i := range l.limit {
		for k, v := range l.table.Vector(i) {
			sums[k] += float64(v)
		}
	}
	mean := make([]float32, len(sums))
	for k, sum := range sums {
		mean[k] = float32(sum / float64(l.limit))
	}
	return mean
}

// cosine returns the cosine of two vectors, 0 if one of them is zero. It is
// rounded to float32, so that words with the same vector tie whatever the
// order of summation.
func cosine(a, b []float32) float64 {
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
