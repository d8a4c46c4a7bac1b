package fasttext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// An Output is a model to write. A zero Shape is a model of words alone: then
// unseen words have no vectors.
type Output struct {
	Words    []string  // V words
	Counts   []uint64  // of each word in the text; nil: not known, written as 1
	Dim      int       // N
	Vectors  []float32 // (V, N): what the words are to have
	Contexts []float32 // (V, N): the output matrix, which training goes on from; nil: zeros

	Shape Shape
	NGram func(bucket uint32, dst []float32) // writes the row of a bucket; nil without n-grams

	CBOW                                bool
	Window, Epochs, Negatives, MinCount int
	Sample                              float64
}

// Write writes a model that gives the words their vectors, to within rounding:
// own rows are what the means lack. Memory holds a row at a time, beside o.
//
// Errors: a word with a zero byte, values so large that own rows are infinite.
func Write(w io.Writer, o Output) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.writeHead(w); err != nil {
		return err
	}
	v := len(o.Words)
	if err := writeMatrixHead(w, v+o.Shape.Buckets, o.Dim); err != nil {
		return err
	}
	s := solver{o: &o, sum: make([]float32, o.Dim), own: make([]float32, o.Dim)}
	for i, word := range o.Words {
		own, err := s.solve(word, o.Vectors[i*o.Dim:][:o.Dim])
		if err != nil {
			return fmt.Errorf("word %d (%q): %w", i+1, word, err)
		}
		if err := writeFloats(w, own); err != nil {
			return err
		}
	}
	row := make([]float32, o.Dim)
	for bucket := range o.Shape.Buckets {
		o.NGram(uint32(bucket), row)
		if err := writeFloats(w, row); err != nil {
			return err
		}
	}
	if err := writeMatrixHead(w, v, o.Dim); err != nil {
		return err
	}
	clear(row)
	for i := range v {
		if o.Contexts != nil {
			row = o.Contexts[i*o.Dim:][:o.Dim]
		}
		if err := writeFloats(w, row); err != nil {
			return err
		}
	}
	return nil
}

func (o *Output) check() error {
	size := len(o.Words) * o.Dim
	switch {
	case len(o.Words) == 0 || o.Dim < 1 || len(o.Vectors) != size:
		return fmt.Errorf("%d values do not make %d vectors of dimension %d", len(o.Vectors), len(o.Words), o.Dim)
	case o.Contexts != nil && len(o.Contexts) != size:
		return fmt.Errorf("%d context values for %d words of dimension %d", len(o.Contexts), len(o.Words), o.Dim)
	case o.Counts != nil && len(o.Counts) != len(o.Words):
		return fmt.Errorf("%d counts for %d words", len(o.Counts), len(o.Words))
	case o.Shape.Longest > 0 && (o.Shape.Buckets < 1 || o.NGram == nil):
		return fmt.Errorf("n-grams of %d to %d characters without rows", o.Shape.Shortest, o.Shape.Longest)
	case o.Shape.Longest > maxGram:
		return fmt.Errorf("n-grams of up to %d characters; %d are the most that w2vcl writes", o.Shape.Longest, maxGram)
	case int64(len(o.Words))+int64(o.Shape.Buckets) > math.MaxInt32:
		return fmt.Errorf("%d words and %d buckets of n-grams are more than fastText can number", len(o.Words), o.Shape.Buckets)
	}
	for i, word := range o.Words {
		if word == "" || strings.IndexByte(word, 0) >= 0 {
			return fmt.Errorf("word %d (%q) is empty or holds a zero byte, which fastText takes for its end", i+1, word)
		}
	}
	return nil
}

// writeHead writes header and dictionary.
func (o *Output) writeHead(w io.Writer) error {
	count := func(i int) uint64 {
		if o.Counts == nil {
			return 1
		}
		return max(o.Counts[i], 1) // fastText divides by them
	}
	v := int32(len(o.Words))
	h := header{
		Version: version, Dim: int32(o.Dim), Window: int32(o.Window), Epochs: int32(o.Epochs), MinCount: int32(o.MinCount),
		Negatives: int32(o.Negatives), WordNGrams: 1, Loss: lossNS, Kind: modelSkipGram,
		Buckets: int32(o.Shape.Buckets), Shortest: int32(o.Shape.Shortest), Longest: int32(o.Shape.Longest),
		UpdateRate: 100, Sample: o.Sample, Entries: v, Words: v, Pruned: -1,
	}
	if o.CBOW {
		h.Kind = modelCBOW
	}
	for i := range o.Words {
		h.Tokens += int64(count(i))
	}
	var head bytes.Buffer
	head.WriteString(Magic)
	if err := binary.Write(&head, binary.LittleEndian, &h); err != nil {
		return err
	}
	for i, word := range o.Words {
		head.WriteString(word)
		head.WriteByte(0)
		head.Write(binary.LittleEndian.AppendUint64(nil, count(i)))
		head.WriteByte(0)
	}
	_, err := head.WriteTo(w)
	return err
}

func writeMatrixHead(w io.Writer, rows, dim int) error {
	head := binary.LittleEndian.AppendUint64([]byte{0}, uint64(rows))
	_, err := w.Write(binary.LittleEndian.AppendUint64(head, uint64(dim)))
	return err
}

func writeFloats(w io.Writer, values []float32) error {
	_, err := w.Write(memory.BytesOf(values))
	return err
}

// A solver finds own rows.
type solver struct {
	o        *Output
	sum, own []float32 // N
	buckets  []uint32
	rows     [][]float32 // of the word's n-grams
}

// solve returns the own row of a word that is to have a vector: the row with which
// fastText's sum, in its order and rounding, comes nearest. It is valid until the
// next call.
func (s *solver) solve(word string, vector []float32) ([]float32, error) {
	s.buckets = s.o.Shape.NGrams(s.buckets[:0], word)
	for i, bucket := range s.buckets {
		if i == len(s.rows) {
			s.rows = append(s.rows, make([]float32, s.o.Dim))
		}
		s.o.NGram(bucket, s.rows[i])
	}
	parts := float64(1 + len(s.buckets))
	if len(s.buckets) == 0 {
		return vector, nil
	}
	clear(s.own)
	for range 3 { // the second and third undo rounding
		copy(s.sum, s.own)
		for _, row := range s.rows[:len(s.buckets)] {
			for j, x := range row {
				s.sum[j] += x
			}
		}
		mean(s.sum, int(parts))
		for j, x := range vector {
			s.own[j] = float32(float64(s.own[j]) + parts*(float64(x)-float64(s.sum[j])))
		}
	}
	for j, x := range s.own {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("value %d of its vector is %v, too large for a mean of %v rows", j+1, vector[j], parts)
		}
	}
	return s.own, nil
}
