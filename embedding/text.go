package embedding

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// parseHeader reads the first line of the word2vec formats, two whole numbers:
// how many words, and their dimension. It does not judge them. ok is false
// for any other line, also for numbers separated by a tab, as the projector's;
// a number too large for int64 becomes the largest one.
func parseHeader(line []byte) (count, dim int64, ok bool) {
	fields := bytes.Split(trimLineEnd(line), []byte(" "))
	if len(fields) != 2 {
		return 0, 0, false
	}
	var numbers [2]int64
	for i, f := range fields {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, 0, false
		}
		numbers[i] = n
	}
	return numbers[0], numbers[1], true
}

// readHeader reads the first line of the word2vec formats and checks it.
func readHeader(in input) (count, dim int64, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil && err != io.EOF {
		return 0, 0, fmt.Errorf("line 1: %w", err)
	}
	count, dim, ok := parseHeader(line)
	if !ok {
		return 0, 0, fmt.Errorf("line 1: %s is not a header (number of words, dimension)", shorten(trimLineEnd(line)))
	}
	if count < 1 {
		return 0, 0, fmt.Errorf("line 1: the header promises %d words", count)
	}
	if err := checkDim(dim); err != nil {
		return 0, 0, fmt.Errorf("line 1: the header's %w", err)
	}
	return count, dim, nil
}

// likely returns how many of the count·dim promised values to make room for at
// once: no more than the rest of the file can hold.
func (in input) likely(count, dim int64, bytesPerValue int64) int64 {
	most := in.size / bytesPerValue
	if count > most/dim {
		return most
	}
	return count * dim
}

// growLike makes room for the rows of a file whose first line this is, if the
// others are about as long; values are those of the line.
func (in input) growLike(line []byte, values []float32) []float32 {
	const longer = 1.1 // the first words are short
	rows := float64(in.size) / float64(len(line)+1) * longer
	return slices.Grow(values, int(rows*float64(len(values))))
}

// readText reads a line per word: the word, then its values, separated by
// spaces or tabs.
func readText(in input, header bool) (*Table, error) {
	rows := textRows{source: "the first line has"}
	count := int64(-1)
	if header {
		var dim int64
		var err error
		if count, dim, err = readHeader(in); err != nil {
			return nil, err
		}
		rows = textRows{dim: int(dim), number: 1, source: "the header says"}
		rows.vectors = make([]float32, 0, in.likely(count, dim, 2))
	}
	for {
		line, err := readLine(in.Reader)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", rows.number+1, err)
		}
		rows.number++
		line = trimLineEnd(line)
		if len(line) == 0 {
			if err := onlyBlank(in.Reader); err != nil {
				return nil, fmt.Errorf("line %d: %w", rows.number, err)
			}
			break
		}
		if header && int64(len(rows.words)) == count {
			return nil, fmt.Errorf("line %d: the header promises %d words, but the file holds more", rows.number, count)
		}
		if err := rows.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", rows.number, err)
		}
		if len(rows.words) == 1 && !header {
			rows.vectors = in.growLike(line, rows.vectors)
		}
	}
	if header && int64(len(rows.words)) < count {
		return nil, fmt.Errorf("the header promises %d words, but the file ends after %d: it is cut, or its header is wrong", count, len(rows.words))
	}
	return NewTable(rows.words, rows.dim, rows.vectors)
}

// textRows collects the lines of a text file.
type textRows struct {
	words   []string
	dim     int // 0 until the first line of a file without header
	vectors []float32
	number  int    // the current line's, from 1
	source  string // who says how many values a line has
}

// add reads one line, which is not empty and ends without a space.
func (t *textRows) add(line []byte) error {
	word, values := cutField(line)
	start := len(t.vectors)
	var err error
	t.vectors, err = appendValues(t.vectors, values)
	found := len(t.vectors) - start
	if t.dim == 0 && err == nil {
		t.dim = found
		if err := checkDim(int64(found)); err != nil {
			return fmt.Errorf("%s is not a word and its values", shorten(line))
		}
	}
	if t.dim > 0 && (err != nil || found != t.dim) {
		// Some GloVe files hold words with spaces.
		if w, v, ok := cutSpacedWord(line, t.dim); ok {
			word = w
			t.vectors, err = appendValues(t.vectors[:start], v)
			found = len(t.vectors) - start
		}
	}
	switch {
	case len(word) == 0:
		return errors.New("the line begins with a space: the word is empty")
	case err != nil:
		return fmt.Errorf("word %s: %w", shorten(word), err)
	case found != t.dim:
		return fmt.Errorf("word %s: %d values, but %s %d", shorten(word), found, t.source, t.dim)
	}
	t.words = append(t.words, validWord(word))
	return nil
}

// validWord makes a word of a file's bytes. What is not UTF-8 becomes U+FFFD.
func validWord(b []byte) string {
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// cutField cuts the first field off.
func cutField(line []byte) (field, rest []byte) {
	for i, c := range line {
		if c == ' ' || c == '\t' {
			return line[:i], line[i:]
		}
	}
	return line, nil
}

// appendValues appends the numbers of b, which begins with a separator.
func appendValues(values []float32, b []byte) ([]float32, error) {
	first := len(values)
	for {
		for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
			b = b[1:]
		}
		if len(b) == 0 {
			return values, nil
		}
		v, n, err := parseFloat(b)
		if err != nil {
			return values, fmt.Errorf("value %d: %w", len(values)-first+1, err)
		}
		values = append(values, v)
		b = b[n:]
	}
}

// cutSpacedWord takes the last dim fields as values and all before them as a
// word with spaces. It refuses if that word has a number after a space: then
// the line rather has too many values.
func cutSpacedWord(line []byte, dim int) (word, values []byte, ok bool) {
	if line[0] == ' ' || line[0] == '\t' {
		return nil, nil, false
	}
	end := len(line)
	for range dim {
		i := bytes.LastIndexAny(line[:end], " \t")
		if i < 1 {
			return nil, nil, false
		}
		end = i
		for end > 0 && (line[end-1] == ' ' || line[end-1] == '\t') {
			end--
		}
	}
	word = line[:end]
	for _, field := range bytes.Fields(word)[1:] {
		if _, _, err := parseFloat(field); err == nil {
			return nil, nil, false
		}
	}
	return word, line[end:], true
}

// readLine returns the next line of any length, valid until the next read, or
// io.EOF after the last one.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		long := bytes.Clone(line)
		for err == bufio.ErrBufferFull {
			line, err = r.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, err
}

// onlyBlank is an error if anything but spaces and line breaks is left: empty
// lines may end a file, not interrupt it.
func onlyBlank(r *bufio.Reader) error {
	for {
		line, err := readLine(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(trimLineEnd(line)) > 0 {
			return errors.New("the line is empty, but more lines follow")
		}
	}
}

// writeText writes the shortest decimals that read back to the same float32.
func writeText(w io.Writer, t *Table, header bool) error {
	if header {
		if _, err := fmt.Fprintf(w, "%d %d\n", t.Len(), t.Dim); err != nil {
			return err
		}
	}
	var line []byte
	for i, word := range t.Words {
		line = append(line[:0], word...)
		line = appendRow(line, t.Vector(i), ' ', true)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendRow appends values in decimals, and a line break; leading puts a
// separator before the first value too.
func appendRow(line []byte, values []float32, separator byte, leading bool) []byte {
	for i, v := range values {
		if i > 0 || leading {
			line = append(line, separator)
		}
		line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
	}
	return append(line, '\n')
}
