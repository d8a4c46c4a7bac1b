package trainer

import (
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Tables are trained vectors with the words they belong to, to go on training
// from. The zero value has none.
type Tables struct {
	Vocabulary []string  // the word of each row
	Words      []float32 // W + X·C - m, (len(Vocabulary), N) in row-major order
	Contexts   []float32 // C, the same; nil: not known, zeros
	Weight     float32   // X; 0 unless C is known
	Mean       []float32 // m, (N); nil: zeros
	Positions  []float32 // weights of the offsets in a window, (2W, N); nil: none
}

// Row writes row i of W to dst, N values.
func (t *Tables) Row(dst []float32, i int) {
	word := t.Words[i*len(dst):][:len(dst)]
	if t.Weight == 0 {
		copy(dst, word)
	} else {
		AddContext(dst, word, t.Contexts[i*len(dst):][:len(dst)], -t.Weight)
	}
	for j, x := range t.Mean {
		dst[j] += x
	}
}

// Rows returns the row of each word of a vocabulary; -1: there is none.
func (t *Tables) Rows(vocabulary *corpus.Vocabulary) []int {
	rows := slices.Repeat([]int{-1}, vocabulary.Len())
	for i, word := range t.Vocabulary {
		if id, ok := vocabulary.ID(word); ok {
			rows[id] = i
		}
	}
	return rows
}

// Bytes is the memory of the values.
func (t *Tables) Bytes() int64 { return 4 * int64(len(t.Words)+len(t.Contexts)) }

// CopyTo copies rows to the tables of the vocabulary for which [Tables.Rows] returned rows. Either table may be nil.
func (t *Tables) CopyTo(rows []int, words, contexts []float32) {
	for i, row := range rows {
		if n := len(words) / len(rows); words != nil && row >= 0 {
			t.Row(words[i*n:][:n], row)
		}
	}
	if t.Contexts != nil && contexts != nil {
		CopyRows(contexts, t.Contexts, rows)
	}
}

// CopyRows copies row rows[i] of one table to row i of another; -1: row i stays. Without rows, it copies all.
func CopyRows(dst, src []float32, rows []int) {
	if rows == nil {
		copy(dst, src)
	}
	n := len(dst) / max(len(rows), 1)
	for i, row := range rows {
		if row >= 0 {
			copy(dst[i*n:][:n], src[row*n:])
		}
	}
}

// AddContexts computes dst = words + weight·contexts, all of them (V, N).
func AddContexts(dst, words, contexts []float32, weight float32, threads int) {
	parallel.Ranges(threads, len(dst), 1<<18, func(first, end int) {
		AddContext(dst[first:end], words[first:end], contexts[first:end], weight)
	})
}

// AddContext is AddContexts for one row.
func AddContext(dst, word, context []float32, weight float32) {
	for i := range dst {
		dst[i] = word[i] + float32(weight*context[i]) // rounded twice on every machine
	}
}
