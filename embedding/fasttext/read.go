package fasttext

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// Magic are the first bytes of a fastText model. word2vec's .bin begins with a
// number in digits.
const Magic = "\xba\x16\x4f\x2f"

const (
	version   = 12 // that is written
	maxDim    = 1 << 20
	maxWord   = 1 << 20 // bytes
	maxGram   = 256     // characters; with more a file could ask for endless work
	entrySize = 1 + 1 + 8 + 1
)

// The models and losses of fastText.
const (
	modelCBOW, modelSkipGram, modelSupervised = 1, 2, 3
	lossHS, lossNS, lossOneVsAll              = 1, 2, 4
)

// IsModel reports whether a file, plain or compressed with gzip, begins as a
// fastText model does. It does not look into a pipe: what it read there would be lost.
func IsModel(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(Magic))
	if isGzip(f) {
		if gz, err := gzip.NewReader(f); err == nil {
			_, err = io.ReadFull(gz, start)
			return err == nil && string(start) == Magic
		}
		return false
	}
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == Magic
}

func isGzip(f io.ReaderAt) bool {
	start := make([]byte, 2)
	_, err := f.ReadAt(start, 0)
	return err == nil && string(start) == "\x1f\x8b"
}

// Open reads a model of skip-gram or CBOW, plain or compressed with gzip. The rows
// of a plain file stay in the file, which is mapped into memory; Close it. Errors
// name the file: a classifier, a quantized model, a file that is cut or longer than
// it says.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := open(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func open(f *os.File, size int64) (*Model, error) {
	if isGzip(f) {
		gz, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return Read(gz, 0)
	}
	if size < int64(len(Magic)) { // an empty file cannot be mapped
		return nil, errNotAModel
	}
	data, unmap, err := memory.MapFile(f, size)
	if err != nil {
		return nil, err
	}
	r := &reader{Reader: bufio.NewReader(bytes.NewReader(data)), size: size, mapped: data}
	m, err := r.model()
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	m.close = unmap
	return m, nil
}

// Read reads a model from a stream into memory. size is the length of the stream,
// 0 if it is not known. Memory grows with what is read, whatever the stream says of
// itself.
func Read(r io.Reader, size int64) (*Model, error) {
	return (&reader{Reader: bufio.NewReaderSize(r, 1<<16), size: size}).model()
}

var errNotAModel = errors.New("it is not a fastText model")

// A reader reads a model from front to back.
type reader struct {
	*bufio.Reader
	size   int64  // of the file; 0: not known
	at     int64  // bytes read
	mapped []byte // the whole file, or nil
}

// left is how many bytes there are still at most.
func (r *reader) left() int64 {
	if r.size == 0 {
		return math.MaxInt64
	}
	return r.size - r.at
}

// read fills fields with the next numbers. part says what they are.
func (r *reader) read(part string, fields ...any) error {
	for _, field := range fields {
		if err := binary.Read(r, binary.LittleEndian, field); err != nil {
			return r.cut(part, err)
		}
		r.at += int64(binary.Size(field))
	}
	return nil
}

// cut is the error of a file that ends in a part.
func (r *reader) cut(part string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the fastText model ends in its %s: the file is cut", part)
	}
	return fmt.Errorf("%s: %w", part, err)
}

// A header is the first part of the file, but for the magic number.
type header struct {
	Version                                                          int32
	Dim, Window, Epochs, MinCount, Negatives, WordNGrams, Loss, Kind int32
	Buckets, Shortest, Longest, UpdateRate                           int32
	Sample                                                           float64
	Entries, Words, Labels                                           int32
	Tokens, Pruned                                                   int64
}

func (h *header) check() error {
	switch {
	case h.Version != 11 && h.Version != version:
		return fmt.Errorf("it is a fastText model of version %d; w2vcl reads versions 11 and 12", h.Version)
	case h.Kind == modelSupervised:
		return errors.New("it is a fastText classifier (supervised); w2vcl reads models of skipgram and cbow")
	case h.Kind != modelCBOW && h.Kind != modelSkipGram || h.Loss < lossHS || h.Loss > lossOneVsAll:
		return fmt.Errorf("its header is damaged: model %d, loss %d", h.Kind, h.Loss)
	case h.Dim < 1 || h.Dim > maxDim:
		return fmt.Errorf("its header is damaged: dimension %d is not between 1 and %d", h.Dim, maxDim)
	case h.Buckets < 0, h.Longest < 0, h.Longest > maxGram,
		h.Longest > 0 && h.Shortest < 0,
		h.Longest > 0 && h.Buckets == 0 && h.Shortest <= h.Longest:
		return fmt.Errorf("its header is damaged: n-grams of %d to %d characters in %d buckets", h.Shortest, h.Longest, h.Buckets)
	case h.Words < 1 || h.Labels < 0 || int64(h.Entries) != int64(h.Words)+int64(h.Labels):
		return fmt.Errorf("its header is damaged: %d words and %d labels in %d entries", h.Words, h.Labels, h.Entries)
	case h.Pruned > 0:
		return errors.New("it is a fastText model with pruned n-grams, which only quantized ones have; w2vcl does not read them")
	}
	return nil
}

// ShapeOf reads the dimensions and the n-grams of a model from its header.
func ShapeOf(path string) (dim int, s Shape, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, s, err
	}
	defer f.Close()
	r := &reader{Reader: bufio.NewReader(f)}
	if isGzip(f) {
		gz, err := gzip.NewReader(f)
		if err != nil {
			return 0, s, fmt.Errorf("gzip: %w", err)
		}
		r.Reset(gz)
	}
	h, err := r.header()
	return int(h.Dim), h.shape(), err
}

func (h *header) shape() Shape {
	shape := Shape{int(h.Shortest), int(h.Longest), int(h.Buckets)}
	if h.Pruned == 0 { // all n-grams
		shape.Longest = 0
	}
	return shape
}

func (r *reader) header() (h header, err error) {
	magic := make([]byte, len(Magic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != Magic {
		return h, errNotAModel
	}
	r.at = int64(len(magic))
	if err := r.read("header", &h); err != nil {
		return h, err
	}
	return h, h.check()
}

func (r *reader) model() (*Model, error) {
	h, err := r.header()
	if err != nil {
		return nil, err
	}
	m := &Model{dim: int(h.Dim), shape: h.shape()}
	if err := r.words(m, &h); err != nil {
		return nil, err
	}
	if m.rows, err = r.rows(int64(h.Words)+int64(h.Buckets), int64(h.Dim), true); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	outputs, err := r.rows(-1, int64(h.Dim), false)
	if err != nil {
		return nil, fmt.Errorf("output vectors: %w", err)
	}
	if h.Loss == lossNS && len(outputs) == 4*int(h.Words)*m.dim {
		m.outputs = outputs
	}
	if _, err := r.Peek(1); err != io.EOF {
		return nil, errors.Join(errors.New("there is data after the end that its header gives"), err)
	}
	return m, nil
}

// words reads the dictionary. Labels, which come behind the words, are dropped.
func (r *reader) words(m *Model, h *header) error {
	if int64(h.Entries) > r.left()/entrySize {
		return fmt.Errorf("its header is damaged: %d words do not fit in a file of %d bytes", h.Entries, r.size)
	}
	m.index = map[string]int{}
	before := map[string]bool{} // words with U+FFFD
	for i := range int(h.Entries) {
		word, err := r.word()
		if err != nil {
			return fmt.Errorf("word %d of %d: %w", i+1, h.Entries, err)
		}
		var count int64
		var kind int8
		if err := r.read("dictionary", &count, &kind); err != nil {
			return err
		}
		if isWord := i < int(h.Words); kind != 0 && kind != 1 || isWord != (kind == 0) {
			return fmt.Errorf("word %d of %d (%q) is of type %d: the dictionary is damaged", i+1, h.Entries, word, kind)
		}
		if i >= int(h.Words) {
			continue
		}
		if first, twice := m.index[word]; twice {
			return fmt.Errorf("word %q occurs twice: it is word %d and word %d", word, first+1, i+1)
		}
		m.index[word] = i
		m.raw, m.Words, m.Counts = append(m.raw, word), append(m.Words, readable(word, before)), append(m.Counts, count)
	}
	return nil
}

// word reads a word and the zero byte behind it.
func (r *reader) word() (string, error) {
	var word []byte
	for {
		b, err := r.ReadByte()
		if err != nil {
			return "", r.cut("dictionary", err)
		}
		r.at++
		switch {
		case b == 0 && len(word) == 0:
			return "", errors.New("it is empty: the dictionary is damaged")
		case b == 0:
			return string(word), nil
		case len(word) == maxWord:
			return "", fmt.Errorf("it has more than %d bytes: the dictionary is damaged", maxWord)
		}
		word = append(word, b)
	}
}

// rows reads a matrix of the given size; -1 rows stand for any number. It returns
// the values if they are to be kept.
func (r *reader) rows(rows, dim int64, keep bool) ([]byte, error) {
	var quantized uint8
	var m, n int64
	if err := r.read("matrices", &quantized); err != nil {
		return nil, err
	}
	if quantized != 0 {
		return nil, errors.New("they are quantized (a .ftz model), which w2vcl does not read; take the .bin that the model was quantized from")
	}
	if err := r.read("matrices", &m, &n); err != nil {
		return nil, err
	}
	if m < 0 || rows >= 0 && m != rows || n != dim {
		return nil, fmt.Errorf("the matrix has %d rows of %d values, but the header says %d rows of %d", m, n, rows, dim)
	}
	if m > min(r.left(), math.MaxInt)/(4*dim) {
		return nil, fmt.Errorf("%d rows of %d values do not fit in a file of %d bytes: it is cut", m, n, r.size)
	}
	size := 4 * m * dim
	defer func() { r.at += size }()
	if r.mapped != nil {
		data := r.mapped[r.at : r.at+size]
		r.Reset(bytes.NewReader(r.mapped[r.at+size:]))
		return data, nil
	}
	if !keep {
		skipped, err := io.CopyN(io.Discard, r, size)
		if err != nil {
			return nil, fmt.Errorf("%w (%d of %d bytes)", r.cut("matrices", err), skipped, size)
		}
		return nil, nil
	}
	var data bytes.Buffer
	if r.size > 0 { // so the values are there
		data.Grow(int(size))
	}
	if _, err := io.CopyN(&data, r, size); err != nil {
		return nil, r.cut("matrices", err)
	}
	return data.Bytes(), nil
}
