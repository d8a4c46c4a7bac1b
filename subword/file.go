package subword

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/safetensors"
)

// The file of an encoder is a safetensors file: the parameters by their names,
// what it takes to read words as in training ("alphabet" and moments, or
// "buckets"), and the rest as JSON in its metadata.
const (
	metadataKey = "w2vcl-encoder"
	fileVersion = 1
	kindCNN     = "cnn"
	kindNGrams  = "ngrams"
)

// A description is the metadata of an encoder's file.
type description struct {
	Version int           `json:"version"`
	Kind    string        `json:"kind"`
	CNN     *CNNOptions   `json:"cnn,omitempty"`
	NGrams  *NGramOptions `json:"ngrams,omitempty"`
}

// Save writes what Load needs to compose vectors of any words. The words' own
// vectors of WithWords are not part of it. The file is written whole or not at
// all.
//
// offset, one vector, is added to every composed one; see Offset.
func Save(path string, e Encoder, offset []float32) error {
	if w, ok := e.(*withWords); ok {
		e = w.Encoder
	}
	d := description{Version: fileVersion}
	var f fileWriter
	switch e := e.(type) {
	case *CNN:
		d.Kind, d.CNN = kindCNN, &e.options
		f.bytes("alphabet", []byte(strings.Join(e.alphabet.symbols, "\n")))
		f.floats("moments.mean", e.moments.Mean, len(e.moments.Mean))
		f.floats("moments.scale", e.moments.Scale, len(e.moments.Scale))
	case *NGrams:
		d.Kind, d.NGrams = kindNGrams, &e.options
		f.bytes("buckets", e.bucketBytes())
	default:
		return fmt.Errorf("cannot write %s: an encoder of type %T is not known", path, e)
	}
	f.floats("offset", offset, len(offset))
	for _, p := range e.Parameters() {
		f.floats(p.Name, p.Value.Float32s(), p.Value.Shape()...)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		if err := safetensors.WriteHeader(w, map[string]string{metadataKey: string(text)}, f.tensors); err != nil {
			return err
		}
		for _, write := range f.data {
			if err := write(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// Bytes is about the size of the file that Save writes.
func Bytes(e Encoder) int64 {
	if w, ok := e.(*withWords); ok {
		e = w.Encoder
	}
	bytes := int64(64 << 10)
	for _, p := range e.Parameters() {
		bytes += 4 * int64(p.Value.Shape().TotalSize()+p.Value.Shape()[0])
	}
	return bytes
}

// fileWriter collects tensors to write.
type fileWriter struct {
	tensors []safetensors.Tensor
	data    []func(w io.Writer) error
}

func (f *fileWriter) floats(name string, values []float32, shape ...int) {
	t := safetensors.Tensor{Name: name, Type: safetensors.Float32, Size: 4 * int64(len(values))}
	for _, n := range shape {
		t.Shape = append(t.Shape, int64(n))
	}
	f.tensors = append(f.tensors, t)
	f.data = append(f.data, func(w io.Writer) error { return safetensors.WriteFloats(w, values) })
}

func (f *fileWriter) bytes(name string, values []byte) {
	n := int64(len(values))
	f.tensors = append(f.tensors, safetensors.Tensor{Name: name, Type: safetensors.Uint8, Shape: []int64{n}, Size: n})
	f.data = append(f.data, func(w io.Writer) error {
		_, err := w.Write(values)
		return err
	})
}

// Load reads an encoder that Save wrote. It composes vectors of any words by
// Encode; it has no vocabulary, so it is not to be trained.
func Load(path string) (Encoder, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	e, err := read(bufio.NewReader(file), info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s is no encoder that can be read: %w", path, err)
	}
	return e, nil
}

func read(r io.Reader, size int64) (Encoder, error) {
	metadata, tensors, err := safetensors.ReadHeader(r)
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal([]byte(metadata[metadataKey]), &d); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", metadataKey, err)
	}
	if d.Version != fileVersion {
		return nil, fmt.Errorf("its version is %d; this w2vcl reads version %d", d.Version, fileVersion)
	}
	f := fileReader{}
	for _, t := range tensors {
		if t.Size > size {
			return nil, fmt.Errorf("tensor %s has %d bytes in a file of %d", t.Name, t.Size, size)
		}
		data := make([]byte, t.Size)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, fmt.Errorf("tensor %s: the file is cut", t.Name)
		}
		f[t.Name] = loaded{t, data}
	}
	var e Encoder
	switch {
	case d.Kind == kindCNN && d.CNN != nil:
		e, err = f.cnn(*d.CNN)
	case d.Kind == kindNGrams && d.NGrams != nil:
		e, err = f.ngrams(*d.NGrams)
	default:
		err = fmt.Errorf("it is of kind %q, which this w2vcl does not know", d.Kind)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range e.Parameters() {
		if err := f.floats(p.Name, p.Value.Float32s()); err != nil {
			return nil, err
		}
	}
	offset := make([]float32, e.Dim())
	if err := f.floats("offset", offset); err != nil {
		return nil, err
	}
	if len(f) > 0 {
		return nil, fmt.Errorf("its tensors %v are not known", slices.Sorted(maps.Keys(f)))
	}
	return &shifted{e, offset}, nil
}

// shifted adds an offset to all vectors.
type shifted struct {
	Encoder
	offset []float32
}

func (s *shifted) Encode(words []string, dst []float32) error {
	if err := s.Encoder.Encode(words, dst); err != nil {
		return err
	}
	for i := range dst {
		dst[i] += s.offset[i%len(s.offset)]
	}
	return nil
}

// Offset is what the vectors of words, len(words) x Dim, have on average beside
// what the encoder composes: their own vectors, context vectors. Without it the
// vectors of other words would lie apart from these.
func Offset(e Encoder, words []string, vectors []float32) ([]float32, error) {
	n := e.Dim()
	if err := checkEncode(words, vectors, n); err != nil {
		return nil, err
	}
	sums, composed := make([]float64, n), make([]float32, blockRows*n)
	for first := 0; first < len(words); first += blockRows {
		rows := min(blockRows, len(words)-first)
		if err := e.Encode(words[first:first+rows], composed[:rows*n]); err != nil {
			return nil, err
		}
		for i, x := range vectors[first*n : (first+rows)*n] {
			sums[i%n] += float64(x) - float64(composed[i])
		}
	}
	offset := make([]float32, n)
	for i, sum := range sums {
		offset[i] = float32(sum / float64(len(words)))
	}
	return offset, nil
}

// fileReader holds the tensors of a file that were not yet asked for.
type fileReader map[string]loaded

type loaded struct {
	safetensors.Tensor
	data []byte
}

// take hands out a tensor.
func (f fileReader) take(name, kind string) ([]byte, error) {
	t, ok := f[name]
	if !ok || t.Type != kind {
		return nil, fmt.Errorf("it has no tensor %s of type %s", name, kind)
	}
	delete(f, name)
	return t.data, nil
}

// floats fills dst with a tensor of its size.
func (f fileReader) floats(name string, dst []float32) error {
	data, err := f.take(name, safetensors.Float32)
	if err != nil {
		return err
	}
	if len(data) != 4*len(dst) {
		return fmt.Errorf("tensor %s has %d bytes instead of %d", name, len(data), 4*len(dst))
	}
	return safetensors.ReadFloats(bytes.NewReader(data), dst)
}

// holds is an error unless so many values can be in the file: its metadata may
// say anything.
func (f fileReader) holds(values float64) error {
	var bytes int64
	for _, t := range f {
		bytes += t.Size
	}
	if 4*values > float64(bytes) {
		return fmt.Errorf("it has %d bytes of parameters instead of %.0f", bytes, 4*values)
	}
	return nil
}

func (f fileReader) cnn(o CNNOptions) (Encoder, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	data, err := f.take("alphabet", safetensors.Uint8)
	if err != nil {
		return nil, err
	}
	var symbols []string
	if len(data) > 0 {
		symbols = strings.Split(string(data), "\n")
	}
	alphabet := alphabetOf(symbols, o.Spelling)
	features := float64(len(o.Widths)) * float64(o.Filters)
	values := float64(alphabet.Len())*float64(o.CharDim) + (features+1)*float64(o.Dim)
	for _, width := range o.Widths {
		values += (float64(width)*float64(o.CharDim) + 1) * float64(o.Filters)
	}
	if err := f.holds(values); err != nil {
		return nil, err
	}
	c := newCNN(alphabet, o)
	if err := f.floats("moments.mean", c.moments.Mean); err != nil {
		return nil, err
	}
	return c, f.floats("moments.scale", c.moments.Scale)
}

func (f fileReader) ngrams(o NGramOptions) (Encoder, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	data, err := f.take("buckets", safetensors.Uint8)
	if err != nil {
		return nil, err
	}
	e := &NGrams{options: o, rows: map[uint32]uint32{}, vocabulary: &Spellings{starts: []int{0}}}
	for ; len(data) >= 4; data = data[4:] {
		e.rows[binary.LittleEndian.Uint32(data)] = uint32(len(e.rows))
	}
	if len(data) > 0 || len(e.rows) == 0 {
		return nil, errors.New("its buckets are not whole")
	}
	if err := f.holds(float64(len(e.rows)) * float64(o.Dim)); err != nil {
		return nil, err
	}
	e.table = newMatrix(len(e.rows), o.Dim)
	return e, nil
}

// bucketBytes are the buckets in use by row, 32 bits each, little-endian.
func (e *NGrams) bucketBytes() []byte {
	data := make([]byte, 4*len(e.rows))
	for bucket, row := range e.rows {
		binary.LittleEndian.PutUint32(data[4*row:], bucket)
	}
	return data
}
