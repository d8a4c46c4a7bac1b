package subword

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Start is what the training of an encoder goes on from.
type Start struct {
	Encoder Composer                           // of a file of Save, or NGramRows; nil: only words have vectors
	Row     func(dst []float32, word int) bool // writes the vector of a word; false: it has none
}

// NGramRows are the n-grams of a trained model.
type NGramRows interface {
	Shape() fasttext.Shape
	// NGramRow writes the vector that a bucket was trained to have; false: it was not trained.
	NGramRow(bucket uint32, dst []float32) bool
}

// NGramRow is NGram without scale and offset.
func (e *NGrams) NGramRow(bucket uint32, dst []float32) bool {
	row, ok := e.rows[bucket]
	if ok {
		copy(dst, e.row(int(row)))
	}
	return ok
}

// Continue lets Randomize set n-grams and words' own vectors to a start, which has n-grams.
func (e *NGrams) Continue(from Start) error {
	rows, ok := from.Encoder.(NGramRows)
	if !ok || rows.Shape() != e.Shape() {
		return errors.New("n-grams of another shape, or none")
	}
	e.start = from
	return nil
}

// goOn sets each part to the mean of those of its n-grams that the start has, and words' own vectors so that words have the vectors of the
// start. A new word has the mean of its parts that the start has.
func (e *NGrams) goOn() {
	rows, row := e.start.Encoder.(NGramRows), make([]float32, e.Dim())
	known := make([]float32, e.words.PartCount())
	e.known = known
	buckets, parts := e.used()
	for k, bucket := range buckets {
		if !rows.NGramRow(bucket, row) {
			continue
		}
		part := parts[k]
		known[part]++
		for i, z := 0, e.row(int(part)); i < len(z); i++ {
			if known[part] == 1 {
				z[i] = row[i]
			}
			z[i] += (row[i] - z[i]) / known[part] // of n-grams that are alike, to the bit
		}
	}
	e.SetWords(func(dst []float32, word int) bool { return e.start.Row(dst, word) || e.mean(dst, uint32(word)) })
}

// SetWords sets words' own vectors so that words have the vectors that row writes. Words for which row returns false stay.
func (e *NGrams) SetWords(row func(dst []float32, word int) bool) {
	if e.words.Own == nil {
		return
	}
	parallel.Ranges(runtime.GOMAXPROCS(0), e.Words(), 1<<8, func(first, end int) {
		composer, dst := composed.Composer{Composition: e.words}, make([]float32, e.Dim())
		for word := first; word < end; word++ {
			if row(dst, word) {
				composer.SetOwn(uint32(word), dst)
			}
		}
	})
}

// StartRows is about parts. If n-grams that form one part now did not before, the last one counts.
func (e *NGrams) StartRows(string) []int {
	rows := slices.Repeat([]int{-1}, e.words.PartCount())
	from, ok := e.start.Encoder.(*NGrams)
	for bucket, part := range e.rows {
		row, known := bucket, true // of a model of fastText, which has all
		if ok {
			row, known = from.rows[bucket]
		}
		if known {
			rows[part] = max(rows[part], int(row))
		}
	}
	return rows
}

// mean writes the mean of the known n-grams of a word to dst; false: it has none.
func (e *NGrams) mean(dst []float32, word uint32) bool {
	var all float32
	clear(dst)
	for _, g := range e.words.Of(word) {
		all += e.known[g]
		simd.AddScaled(dst, e.row(int(g)), e.known[g])
	}
	for i := range dst {
		dst[i] /= max(all, 1)
	}
	return all > 0
}

// Continue lets Randomize set the matrices to those of a start; symbols that it lacks start anew.
func (n *network) Continue(from Start) error {
	if from.Encoder == nil {
		return nil
	}
	old, ok := from.Encoder.(*network)
	same := ok && slices.EqualFunc(old.matrices, n.matrices, func(a, b Matrix) bool {
		return a.Name == b.Name && a.Columns == b.Columns && (a.Rows == b.Rows || a.OfSymbols)
	})
	if !same || old.alphabet.spellings() != n.alphabet.spellings() {
		return fmt.Errorf("network %s: the start has another network", n.Name)
	}
	n.start = old
	return nil
}

func (n *network) goOn() {
	for i, m := range n.matrices {
		values, old := n.parameters[i].Value.Float32s(), n.start.parameters[i].Value.Float32s()
		trainer.CopyRows(values, old, n.StartRows(m.Name))
	}
}

// StartRows is about symbols.
func (n *network) StartRows(table string) (rows []int) {
	if !slices.ContainsFunc(n.matrices, func(m Matrix) bool { return m.OfSymbols && m.Name == table && n.start != nil }) {
		return nil
	}
	for i := range n.alphabet.known() {
		rows = append(rows, i)
	}
	for _, symbol := range n.alphabet.symbols {
		row := -1
		if number, ok := n.start.alphabet.numbers[symbol]; ok {
			row = int(number)
		}
		rows = append(rows, row)
	}
	return rows
}
