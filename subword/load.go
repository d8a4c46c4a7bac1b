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
	"math"
	"os"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/kernels/composed"
)

// Load reads a file of Save. The result composes vectors of any words. It has no vocabulary, so it cannot be trained.
func Load(path string) (Composer, error) {
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
		return nil, fmt.Errorf("%s: cannot read the encoder: %w", path, err)
	}
	return e, nil
}

func read(r io.Reader, size int64) (Composer, error) {
	content, err := safetensors.Open(r)
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal([]byte(content.Metadata[metadataKey]), &d); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", metadataKey, err)
	}
	if d.Version != fileVersion {
		return nil, fmt.Errorf("its version is %d; this w2vcl reads version %d", d.Version, fileVersion)
	}
	if !content.Sealed {
		return nil, fmt.Errorf("%w: it has no checksums", safetensors.ErrDamaged)
	}
	f := fileReader{}
	for _, t := range content.Tensors {
		if t.Size > size {
			return nil, fmt.Errorf("tensor %s has %d bytes in a file of %d", t.Name, t.Size, size)
		}
		data := make([]byte, t.Size)
		if _, err := io.ReadFull(content, data); err != nil {
			return nil, fmt.Errorf("tensor %s: the file is cut", t.Name)
		}
		size -= t.Size
		f[t.Name] = loaded{t, data}
	}
	if err := content.Finish(); err != nil {
		return nil, err
	}
	return f.encoder(d)
}

// encoder makes the encoder of a description, of all tensors of the file.
func (f fileReader) encoder(d description) (e Composer, err error) {
	switch {
	case d.Network != nil:
		e, err = f.network(string(d.Kind), *d.Network)
	case (d.Kind == FromNGrams || d.Kind == FromFit) && d.NGrams != nil:
		e, err = f.ngrams(*d.NGrams, d.Scale, d.Kind)
	default:
		err = fmt.Errorf("it is of kind %q, which this w2vcl does not know", d.Kind)
	}
	if err == nil && len(f) > 0 {
		err = fmt.Errorf("its tensors %v are not known", slices.Sorted(maps.Keys(f)))
	}
	if err != nil {
		return nil, err
	}
	return e, nil
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
	if err := safetensors.ReadFloats(bytes.NewReader(data), dst); err != nil {
		return err
	}
	return checkFinite(name, dst)
}

// A shift is what a run did to vectors of dimension N.
type shift struct {
	offset []float32 // that composed ones have beside; nil: zeros
	center []float32 // that all lost; nil: zeros
}

func (s *shift) shifted() *shift { return s }

// Shift returns what the run of an encoder of a file added to composed vectors, and what it took off all vectors, (N) each; nil: nothing.
func Shift(e Composer) (offset, center []float32) {
	if of, ok := e.(interface{ shifted() *shift }); ok {
		return of.shifted().offset, of.shifted().center
	}
	return nil, nil
}

func (f fileReader) shift(s *shift, dim int) error {
	s.offset = make([]float32, dim)
	if _, ok := f["center"]; ok {
		s.center = make([]float32, dim)
		if err := f.floats("center", s.center); err != nil {
			return err
		}
	}
	return f.floats("offset", s.offset)
}

// holds is an error unless so many values can be in the file: its metadata may say anything.
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

func (f fileReader) alphabet(o SpellingOptions) (*Alphabet, error) {
	data, err := f.take("alphabet", safetensors.Uint8)
	if err != nil {
		return nil, err
	}
	var symbols []string
	if len(data) > 0 {
		symbols = strings.Split(string(data), "\n")
	}
	alphabet := AlphabetOf(symbols, o)
	if len(alphabet.numbers) != len(symbols) {
		return nil, errors.New("its alphabet has a symbol twice")
	}
	return alphabet, nil
}

func (f fileReader) ngrams(o NGramOptions, scale float32, source Source) (Composer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	data, err := f.take("buckets", safetensors.Uint8)
	if err != nil {
		return nil, err
	}
	rows, err := f.take("rows", safetensors.Uint8)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || len(data)%4 > 0 || len(rows) != len(data) {
		return nil, errors.New("its list of buckets is cut")
	}
	if !(scale > 0 && scale <= math.MaxFloat32) {
		return nil, fmt.Errorf("the scale of its n-grams is %v, not a positive float32 number", scale)
	}
	o.Scale, o.source = scale, source
	e := &NGrams{options: o, rows: map[uint32]uint32{}}
	var sizes []uint32
	for i := 0; i < len(data); i += 4 {
		bucket, row := binary.LittleEndian.Uint32(data[i:]), binary.LittleEndian.Uint32(rows[i:])
		if uint64(bucket) >= uint64(o.Buckets) {
			return nil, fmt.Errorf("it has bucket %d, but only %d buckets", bucket, o.Buckets)
		}
		if _, twice := e.rows[bucket]; twice {
			return nil, fmt.Errorf("it has bucket %d twice", bucket)
		}
		if int(row) == len(sizes) {
			sizes = append(sizes, 0)
		} else if int(row) != len(sizes)-1 {
			return nil, fmt.Errorf("bucket %d has row %d after row %d", bucket, row, len(sizes)-1)
		}
		e.rows[bucket], sizes[row] = row, sizes[row]+1
	}
	if err := f.holds(float64(len(sizes)) * float64(o.Dim)); err != nil {
		return nil, err
	}
	e.words = &composed.Composition{Dim: o.Dim, Starts: []uint32{0}, Sizes: sizes, Parts: floats(len(sizes) * o.Dim)}
	if err := f.floats("ngrams", e.words.Parts); err != nil {
		return nil, err
	}
	return e, f.shift(&e.shift, o.Dim)
}
