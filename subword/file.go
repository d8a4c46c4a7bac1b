package subword

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/safetensors"
)

// The file of an encoder is a safetensors file: the parameters by their names, the alphabet and, unless features are
// raw, their statistics ("moments.mean", "moments.scale"), or the buckets of the n-grams, and the rest as JSON in its
// metadata.
const (
	metadataKey = "w2vcl-encoder"
	fileVersion = 1

	fileOverhead = 64 << 10 // header and small tensors
)

// A description is the metadata of an encoder's file.
type description struct {
	Version int             `json:"version"`
	Kind    Source          `json:"kind"`
	Network *NetworkOptions `json:"network,omitempty"`
	NGrams  *NGramOptions   `json:"ngrams,omitempty"`
	Scale   float32         `json:"scale,omitempty"` // of n-grams
}

// Write writes the file of an encoder or n-grams, for Load. Words' own vectors are not part of it. A parameter with NaN or
// infinity is [embedding.ErrNotFinite].
//
// offset returns one vector, which is added to every composed one; see Offset. It is called late, so that another goroutine can
// have it computed meanwhile. center is what the run takes off all vectors; nil: nothing.
func Write(w io.Writer, e Trained, offset func() ([]float32, error), center []float32) error {
	d := description{Version: fileVersion}
	var f fileWriter
	e.save(&d, &f)
	f.later("offset", func() ([]float32, error) {
		x, err := offset()
		if err == nil && len(x) != e.Dim() {
			err = fmt.Errorf("the offset has %d values in place of %d", len(x), e.Dim())
		}
		return x, err
	}, e.Dim())
	if center != nil {
		f.floats("center", center, len(center))
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return safetensors.WriteSealed(w, map[string]string{metadataKey: string(text)}, f.tensors, f.write)
}

type fileWriter struct {
	tensors []safetensors.Tensor
	data    []func(w io.Writer) error
}

// write writes the bytes of all tensors.
func (f *fileWriter) write(w io.Writer) error {
	for _, write := range f.data {
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

func (f *fileWriter) floats(name string, values []float32, shape ...int) {
	f.later(name, func() ([]float32, error) { return values, nil }, shape...)
}

// later is floats for values that are not there yet.
func (f *fileWriter) later(name string, values func() ([]float32, error), shape ...int) {
	t := safetensors.Tensor{Name: name, Type: safetensors.Float32, Size: 4}
	for _, n := range shape {
		t.Shape, t.Size = append(t.Shape, int64(n)), t.Size*int64(n)
	}
	f.tensors = append(f.tensors, t)
	f.data = append(f.data, func(w io.Writer) error {
		x, err := values()
		if err == nil {
			err = checkFinite(name, x)
		}
		if err != nil {
			return err
		}
		return safetensors.WriteFloats(w, x)
	})
}

func checkFinite(name string, values []float32) error {
	if safetensors.Finite(values) {
		return nil
	}
	return fmt.Errorf("tensor %s has a value that is %w", name, embedding.ErrNotFinite)
}

func (f *fileWriter) bytes(name string, values []byte) {
	n := int64(len(values))
	f.tensors = append(f.tensors, safetensors.Tensor{Name: name, Type: safetensors.Uint8, Shape: []int64{n}, Size: n})
	f.data = append(f.data, func(w io.Writer) error {
		_, err := w.Write(values)
		return err
	})
}

// used returns the buckets in use by row, and their rows.
func (e *NGrams) used() (buckets, rows []uint32) {
	used := make([]uint64, 0, len(e.rows)) // the row before the bucket
	for bucket, row := range e.rows {
		used = append(used, uint64(row)<<32|uint64(bucket))
	}
	slices.Sort(used)
	for _, x := range used {
		buckets, rows = append(buckets, uint32(x)), append(rows, uint32(x>>32))
	}
	return buckets, rows
}

// writeBuckets writes what used returns, 32 bits each, little-endian.
func (e *NGrams) writeBuckets(f *fileWriter) {
	buckets, rows := e.used()
	f.bytes("buckets", memory.BytesOf(buckets))
	f.bytes("rows", memory.BytesOf(rows))
}

// offsetBytes is about the memory of the vectors that Offset composes at a time, and offsetColumns how many values of each a thread
// sums up.
const offsetBytes, offsetColumns = 2 << 20, 16

// Offset returns the difference between the vectors of words, len(words) x Dim, and the vectors that Load's result composes for
// them: the trained ones also hold words' own vectors, or context vectors. It is the difference of words that occur once, by a
// straight line of the logarithms of counts. Without the offset the vectors of unseen words would lie apart from the trained ones.
// Words with count 0 say nothing, unless all have it.
//
// An encoder such as a CNN makes tables for each call of Encode, so there are few calls.
func Offset(e Composer, words []string, counts []uint64, vectors []float32) ([]float32, error) {
	n := e.Dim()
	if err := checkEncode(words, vectors, n); err != nil {
		return nil, err
	}
	if len(counts) != len(words) {
		return nil, fmt.Errorf("%d counts for %d words", len(counts), len(words))
	}
	occur := slices.DeleteFunc(slices.Clone(counts), func(count uint64) bool { return count == 0 })
	if len(occur) == 0 {
		occur = slices.Repeat([]uint64{1}, len(counts))
		counts = occur
	}
	f, logs, known := newFrequencies(occur), make([]float64, len(words)), 0
	for word, count := range counts {
		if count > 0 {
			logs[word] = float64(f.logs[known])
			known++
		}
	}
	most := min(max(offsetBytes/(4*n)/blockRows, 1)*blockRows, len(words))
	sums, products, composed := make([]float64, n), make([]float64, n), make([]float32, most*n)
	for first := 0; first < len(words); first += most {
		rows := min(most, len(words)-first)
		if err := e.Encode(words[first:first+rows], composed[:rows*n]); err != nil {
			return nil, err
		}
		// Each column is summed up from the first word to the last, whatever the threads.
		parallel.Ranges(runtime.GOMAXPROCS(0), n, offsetColumns, func(column, end int) {
			for word, count := range counts[first : first+rows] {
				if count == 0 {
					continue
				}
				for i := column; i < end; i++ {
					difference := float64(vectors[(first+word)*n+i]) - float64(composed[word*n+i])
					sums[i] += difference
					products[i] += logs[first+word] * difference
				}
			}
		})
	}
	offset := make([]float32, n)
	for i := range offset {
		_, _, once := f.line(sums[i], products[i])
		offset[i] = float32(once)
	}
	return offset, nil
}
