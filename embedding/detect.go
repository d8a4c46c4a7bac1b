package embedding

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// foreign lists the first bytes of files that users take for vectors.
var foreign = []struct{ magic, advice string }{
	{"\xfd7zXZ\x00", "it is compressed with xz; decompress it first (only gzip and zstd are read directly)"},
	{"BZh91AY", "it is compressed with bzip2; decompress it first (only gzip and zstd are read directly)"},
	{"PK\x03\x04", "it is a zip archive; unpack it first"},
	{"\x80\x02", pickleAdvice},
	{"\x80\x03", pickleAdvice},
	{"\x80\x04", pickleAdvice},
	{"\x80\x05", pickleAdvice},
}

const pickleAdvice = "it is a Python pickle, as gensim's save writes it; write the vectors with gensim's save_word2vec_format"

// beginning is how many bytes detect looks at. No word of a binary file, no header and no
// first line may be longer.
const beginning = 1 << 20

// detect recognizes the format by the first bytes. It leaves them in r, but skips a byte order mark.
func detect(r *bufio.Reader) (Format, error) {
	if mark, _ := r.Peek(len(textfile.ByteOrderMark)); string(mark) == textfile.ByteOrderMark {
		_, _ = r.Discard(len(mark))
	}
	start, err := r.Peek(r.Size())
	if len(start) == 0 {
		if err != nil && err != io.EOF {
			return "", err
		}
		return "", errors.New("the file is empty")
	}
	for _, f := range foreign {
		if bytes.HasPrefix(start, []byte(f.magic)) {
			return "", errors.New("not a file of vectors: " + f.advice)
		}
	}
	if bytes.HasPrefix(start, []byte(fasttext.Magic)) {
		return FastTextModel, nil
	}
	if bytes.HasPrefix(start, []byte(npyMagic)) {
		return NPY, nil
	}
	line, rest, _ := bytes.Cut(start, []byte("\n"))
	if _, dim, ok := parseHeader(line); ok {
		if isBinary(start, rest, dim) {
			return Word2VecBinary, nil
		}
		return Word2VecText, nil
	}
	// Its first bytes are a length, which would be absurd if it read as a header.
	if len(start) > 8 && start[8] == '{' && bytes.IndexByte(start[:8], 0) >= 0 {
		return Safetensors, nil
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return "", errors.New("not a file of vectors: its first line holds NUL bytes and is not a header")
	}
	if onlyNumbers(line) {
		return Projector, nil
	}
	return GloVe, nil
}

// isBinary reports whether binary rows, not text rows, follow the header of a
// word2vec file. start is the beginning of the file, rest is start without its
// first line.
func isBinary(start, rest []byte, dim int64) bool {
	if checkDim(dim) != nil {
		return false // readText and readBinary report the same error
	}
	if beginsWithRows(rest, int(dim)) {
		return false
	}
	// The rows are binary, or they are text with a bad first row. Only a few
	// float32 can look like text by chance.
	_, values, _ := bytes.Cut(rest, []byte(" "))
	values = values[:min(len(values), 4096)]
	if !isPlain(values) {
		return true
	}
	if len(values) >= 64 {
		return false
	}
	t, err := readBinary(newInput(bytes.NewReader(start), 0))
	if err != nil {
		return false
	}
	// The bytes of digits, read as float32, are outside these bounds. Letters do
	// not stand where text has a number.
	number, _, _ := bytes.Cut(values, []byte("\n"))
	digits := len(number) > 0 && len(bytes.Trim(number, "0123456789+-.eE \t\r")) == 0
	return !digits || !slices.ContainsFunc(t.Vectors, func(v float32) bool {
		size := math.Abs(float64(v))
		return size < 5e-4 || size > 1e4
	})
}

// beginsWithRows reports whether text starts with a word and dim numbers. For
// dimension 1 it looks at two rows, because the bytes of one float32 may be a
// digit and a line break by chance.
func beginsWithRows(text []byte, dim int) bool {
	rows := textRows{dim: dim}
	for range max(1, 3-dim) {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		line = trimLineEnd(line)
		if len(line) == 0 || rows.add(line) != nil {
			return len(line) == 0 && len(rows.words) > 0 && len(rest) == 0
		}
		text = rest
	}
	return true
}

// isPlain reports whether b is UTF-8 without control characters. The last
// character of b may be cut.
func isPlain(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			return !utf8.FullRune(b)
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return false
		}
		b = b[size:]
	}
	return true
}

// checkBeginning refuses a table that Load would take for one of another format. Only
// the formats without a magic number can be mistaken, and only for chance: vectors whose
// bytes are the digits of a text, a first word that is a number or a magic number. A first
// row that is longer than what is looked at here would have to be such digits all through.
func checkBeginning(t *Table, f Format) error {
	if f != GloVe || t.Len() == 0 { // writing Word2VecBinary looks at its beginning
		return nil
	}
	start := limitedBuffer{most: lookedAt(t.Words[0])}
	if err := writeAs(&start, t, f); err != nil && !errors.Is(err, errFull) {
		return err
	}
	return checkBytes(start.Bytes(), f)
}

// lookedAt is how many bytes of the beginning are looked at, little beside a table of a few words: the first word, and 16 KB.
func lookedAt(first string) int { return min(1<<14+len(first), beginning) }

// checkBytes returns why the beginning of a file in format f would be taken for another format.
func checkBytes(start []byte, f Format) error {
	got, err := detect(bufio.NewReaderSize(bytes.NewReader(start), len(start)))
	switch {
	case got == f:
		return nil
	case err != nil:
		return fmt.Errorf("in format %s the file would look like another kind of file (%w); write it as format %s", f, err, Word2VecText)
	case f == GloVe:
		line, _, _ := bytes.Cut(start, []byte("\n"))
		return fmt.Errorf("the first line (%s) would be taken for a header; write it as format %s", line, Word2VecText)
	default:
		return fmt.Errorf("the values, as bytes, would be taken for text; write it as format %s", Safetensors)
	}
}

var errFull = errors.New("full")

// A limitedBuffer holds the first bytes of what is written, and ends the writing then.
type limitedBuffer struct {
	bytes.Buffer
	most int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	room := b.most - b.Len()
	if len(p) <= room {
		return b.Buffer.Write(p)
	}
	b.Buffer.Write(p[:room])
	return room, errFull
}

// HoldsVectors reports whether a file, plain or compressed, may be one that [Save] wrote.
func HoldsVectors(path string) bool {
	in, closeFile, err := open(context.Background(), path)
	if err != nil {
		return false
	}
	defer closeFile()
	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(in, head) // fewer of a short file
	return IsVectors(head[:n])
}

// IsVectors reports whether a file that begins so may be one of vectors, in any format
// that [Save] writes. head should have some kilobytes, or be the whole file.
func IsVectors(head []byte) bool {
	f, err := detect(newInput(bytes.NewReader(head), 0).Reader)
	if err != nil || f != GloVe && f != Word2VecText { // detect takes any text for one of these
		return err == nil
	}
	rows := textRows{}
	text := head
	if f == Word2VecText {
		var line []byte
		line, text, _ = bytes.Cut(head, []byte("\n"))
		_, dim, _ := parseHeader(line)
		rows.dim = int(min(dim, maxDim))
	}
	line, rest, whole := bytes.Cut(text, []byte("\n"))
	if !whole {
		return isRow(line)
	}
	for ; whole; line, rest, whole = bytes.Cut(rest, []byte("\n")) {
		if line = trimLineEnd(line); len(line) == 0 || rows.add(line) != nil {
			return len(line) == 0 && len(rows.words) > 0 && len(trimLineEnd(rest)) == 0
		}
	}
	return true
}

// isRow reports whether a line that may be cut is a word and numbers.
func isRow(line []byte) bool {
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return false
	}
	for _, number := range fields[1:max(2, len(fields)-1)] { // the last one may be cut
		if _, err := strconv.ParseFloat(string(number), 32); err != nil {
			return false
		}
	}
	return true
}
