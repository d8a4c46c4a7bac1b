package embedding

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// foreign lists the beginnings of files that are often taken for vectors.
var foreign = []struct{ magic, advice string }{
	{"\x28\xb5\x2f\xfd", "it is compressed with zstd; decompress it first (gzip is read as it is)"},
	{"\xfd7zXZ\x00", "it is compressed with xz; decompress it first (gzip is read as it is)"},
	{"BZh91AY", "it is compressed with bzip2; decompress it first (gzip is read as it is)"},
	{"PK\x03\x04", "it is a zip archive; unpack it first"},
	{"\xba\x16\x4f\x2f", "it is a fastText model; its vectors are in the .vec file beside it"},
	{"\x80\x02", pickleAdvice},
	{"\x80\x03", pickleAdvice},
	{"\x80\x04", pickleAdvice},
	{"\x80\x05", pickleAdvice},
}

const pickleAdvice = "it is a Python pickle; in gensim write the vectors with save_word2vec_format"

// detect finds out the format from the first bytes, which stay in r.
func detect(r *bufio.Reader) (Format, error) {
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
	if bytes.HasPrefix(start, []byte(npyMagic)) {
		return NPY, nil
	}
	if len(start) > 8 && start[8] == '{' && bytes.IndexByte(start[:8], 0) >= 0 {
		return Safetensors, nil
	}
	line, rest, _ := bytes.Cut(start, []byte("\n"))
	if _, dim, ok := parseHeader(line); ok {
		if isBinary(start, rest, dim) {
			return Word2VecBinary, nil
		}
		return Word2VecText, nil
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return "", errors.New("not a file of vectors: its first line holds NUL bytes and is no header")
	}
	if onlyNumbers(line) {
		return Projector, nil
	}
	return GloVe, nil
}

// isBinary decides whether text or binary rows follow the header of the
// word2vec formats. start is the beginning of the file, rest what comes after
// its first line.
func isBinary(start, rest []byte, dim int64) bool {
	if checkDim(dim) != nil {
		return false // readText explains it as well as readBinary
	}
	if beginsWithRows(rest, int(dim)) {
		return false
	}
	// Binary, or text that is wrong from its first row on. Float32 look like
	// text only where there are few of them.
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
	// Digits, taken for float32, are beyond these bounds; letters are not
	// where a number is expected.
	number, _, _ := bytes.Cut(values, []byte("\n"))
	digits := len(number) > 0 && len(bytes.Trim(number, "0123456789+-.eE \t\r")) == 0
	return !digits || !slices.ContainsFunc(t.Vectors, func(v float32) bool {
		size := math.Abs(float64(v))
		return size < 5e-4 || size > 1e4
	})
}

// beginsWithRows reports whether text starts with a word and dim numbers. Of
// dimension 1 it takes two rows, as the bytes of one float32 may happen to be
// a digit and a line break.
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

// isPlain reports whether b is UTF-8 without control characters; its last
// character may be cut.
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
