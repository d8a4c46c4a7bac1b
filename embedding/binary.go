package embedding

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// readBinary reads word2vec's binary format: a header line, then for each word
// the word, a space and N little-endian float32. word2vec.c ends each vector
// with a line break, gensim does not. readBinary accepts both.
func readBinary(in input) (*Table, error) {
	count, dim, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	values := in.capacity(count, dim, 4)
	vectors, err := memory.Grow[float32](nil, int(values))
	if err != nil {
		return nil, err
	}
	words := make([]string, 0, values/dim)
	for i := range count {
		word, err := readBinaryWord(in.Reader)
		if err != nil {
			return nil, fmt.Errorf("word %d of %d: %w", i+1, count, err)
		}
		if words, err = memory.Append(words, word); err != nil {
			return nil, err
		}
		if vectors, err = appendFloats(vectors, in.Reader, dim, 4); err != nil {
			return nil, fmt.Errorf("vector of word %d of %d (%q): %w", i+1, count, word, err)
		}
	}
	if next, _ := in.Peek(1); len(next) == 1 && next[0] == '\n' {
		in.Discard(1)
	}
	if err := in.expectEnd(); err != nil {
		return nil, fmt.Errorf("after the last of the %d words that the header promises: %w", count, err)
	}
	return NewTable(words, int(dim), vectors)
}

var errMisplaced = errors.New("no word where one should begin: the header's dimension is wrong, or the file is damaged")

// readBinaryWord reads a word and the space after it. It skips line breaks before
// the word, which belong to the previous vector.
func readBinaryWord(r *bufio.Reader) (string, error) {
	word, err := r.ReadSlice(' ')
	switch {
	case err == bufio.ErrBufferFull:
		return "", errMisplaced
	case err == io.EOF && len(bytes.Trim(word, "\n")) == 0:
		return "", errors.New("the file ends here: the file is cut or the header is wrong")
	case err == io.EOF:
		return "", errors.New("the file ends within it: the file is cut or the header is wrong")
	case err != nil:
		return "", err
	}
	word = bytes.TrimLeft(word[:len(word)-1], "\n")
	if len(word) == 0 || bytes.ContainsAny(word, forbidden(Word2VecBinary)) {
		return "", errMisplaced
	}
	return textfile.ValidUTF8(string(word)), nil
}

// appendFloats reads count little-endian values from r and appends them. width is
// 4 for float32, 8 for float64, which it rounds. It refuses NaN and infinity, and
// allocates only as values come.
func appendFloats(values []float32, r *bufio.Reader, count int64, width int) ([]float32, error) {
	for done := int64(0); done < count; {
		want := min(count-done, int64(r.Size()/width))
		raw, err := r.Peek(int(want) * width)
		if err == io.EOF {
			return values, fmt.Errorf("the file ends after %d of %d values: the file is cut or the header is wrong", done+int64(len(raw)/width), count)
		}
		if err != nil {
			return values, err
		}
		if values, err = memory.Grow(values, len(raw)/width); err != nil {
			return values, err
		}
		for i := 0; i < len(raw); i += width {
			var v float32
			if width == 4 {
				v = math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))
			} else {
				v = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])))
			}
			if !Finite(v) {
				return values, fmt.Errorf("value %d is %v", done+int64(i/width)+1, v)
			}
			values = append(values, v)
		}
		r.Discard(len(raw))
		done += want
	}
	return values, nil
}
