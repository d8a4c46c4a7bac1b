package embedding

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// parseHeader parses the first line of the word2vec formats: the number of words
// and the dimension, separated by a space. It accepts any whole numbers; one that
// is too large for int64 becomes the largest int64. ok is false for any other
// line, also for numbers separated by a tab, which the projector's files have.
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

// readHeader reads and checks the first line of the word2vec formats.
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

// capacity returns for how many values to allocate memory at first: count·dim, as
// the header promises, but no more than the file can hold.
func (in input) capacity(count, dim int64, bytesPerValue int64) int64 {
	most := in.most / bytesPerValue
	if count > most/dim {
		return most
	}
	return count * dim
}

// growByLine grows values, which are the values of a file's first line, to hold
// the values of all lines. It assumes that all lines are about as long.
func (in input) growByLine(line []byte, values []float32) ([]float32, error) {
	const longer = 1.1 // the first words are short
	rows := float64(in.size) / float64(len(line)+1) * longer
	return memory.Grow(values, int(rows*float64(len(values))))
}

// readText reads one line for each word: the word and its values, separated by
// spaces or tabs. header says whether a header line comes first.
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
		if rows.vectors, err = memory.Grow(rows.vectors, int(in.capacity(count, dim, 2))); err != nil {
			return nil, err
		}
	}
	for {
		line, err := readLine(in.Reader, longestLine(rows.dim))
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", rows.number+1, err)
		}
		rows.number++
		line = trimLineEnd(line)
		if len(line) == 0 {
			if err := expectBlank(in.Reader); err != nil {
				return nil, fmt.Errorf("line %d: %w", rows.number, err)
			}
			break
		}
		if header && int64(len(rows.words)) == count {
			return nil, fmt.Errorf("line %d: the header promises %d words, but the file holds more", rows.number, count)
		}
		if err := rows.add(line); err != nil && rows.number == 1 {
			return nil, fmt.Errorf("this does not look like a file of vectors: line 1: %w", err)
		} else if err != nil {
			return nil, fmt.Errorf("line %d: %w", rows.number, err)
		}
		if len(rows.words) == 1 && !header {
			if rows.vectors, err = in.growByLine(line, rows.vectors); err != nil {
				return nil, err
			}
		}
	}
	if header && int64(len(rows.words)) < count {
		return nil, fmt.Errorf("the header promises %d words, but the file ends after %d: the file is cut or the header is wrong", count, len(rows.words))
	}
	return NewTable(rows.words, rows.dim, rows.vectors)
}

type textRows struct {
	words   []string
	dim     int // 0 before the first line of a file without a header
	vectors []float32
	number  int    // of the current line, from 1
	source  string // in errors: where the number of values comes from
}

// add parses one line, which is not empty and does not end with a space.
func (t *textRows) add(line []byte) error {
	word, values := cutField(line)
	start := len(t.vectors)
	var err error
	if t.vectors, err = memory.Grow(t.vectors, min(t.dim, len(values)/2)); err != nil { // a value has two bytes at least
		return err
	}
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
	t.words, err = memory.Append(t.words, textfile.ValidUTF8(string(word)))
	return err
}

func isSeparator(c byte) bool { return c == ' ' || c == '\t' }

// cutField cuts the first field off a line.
func cutField(line []byte) (field, rest []byte) {
	for i, c := range line {
		if isSeparator(c) {
			return line[:i], line[i:]
		}
	}
	return line, nil
}

// appendValues appends the numbers in b, with any separators before each.
func appendValues(values []float32, b []byte) ([]float32, error) {
	first := len(values)
	for {
		for len(b) > 0 && isSeparator(b[0]) {
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

// cutSpacedWord takes the last dim fields of a line as values and the fields
// before them as a word with spaces. ok is false if this word has a number after
// a space: such a line more likely has too many values.
func cutSpacedWord(line []byte, dim int) (word, values []byte, ok bool) {
	if isSeparator(line[0]) {
		return nil, nil, false
	}
	end := len(line)
	for range dim {
		i := bytes.LastIndexAny(line[:end], " \t")
		if i < 1 {
			return nil, nil, false
		}
		end = i
		for end > 0 && isSeparator(line[end-1]) {
			end--
		}
	}
	word = line[:end]
	// Only our separators count: a word may be a space of another kind.
	for _, field := range bytes.FieldsFunc(word, func(r rune) bool { return r == ' ' || r == '\t' })[1:] {
		if _, _, err := parseFloat(field); err == nil {
			return nil, nil, false
		}
	}
	return word, line[end:], true
}

// longestWord is the longest word, in bytes, of a file of lines.
const longestWord = 1 << 20

// longestLine is the longest line, in bytes, of a word and its values: a value has
// some 25 digits at the most. Dimension 0 is one that is not known yet.
func longestLine(dim int) int {
	if dim < 1 || dim > maxDim {
		dim = maxDim
	}
	return longestWord + 32*dim
}

// readLine returns the next line, or io.EOF after the last one. A line of more than
// about longest bytes is an error. The line is valid until the next read.
func readLine(r *bufio.Reader, longest int) ([]byte, error) {
	var long []byte // does not fit into the buffer
	for {
		line, err := r.ReadSlice('\n')
		if err == io.EOF && len(long)+len(line) > 0 {
			err = nil
		}
		if err != bufio.ErrBufferFull && long == nil {
			return line, err
		}
		var full error
		if long, full = memory.Append(long, line...); full != nil {
			return nil, full
		}
		if len(long) > longest {
			return nil, fmt.Errorf("it has more than %d bytes: the file is damaged, or not a file of vectors", longest)
		}
		if err != bufio.ErrBufferFull {
			return long, err
		}
	}
}

// expectBlank returns an error if more than spaces and line breaks is left: empty
// lines may end a file, but not interrupt it.
func expectBlank(r *bufio.Reader) error {
	for {
		line, err := readLine(r, longestWord)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(trimLineEnd(line)) > 0 {
			return errors.New("the line is empty, but other lines follow")
		}
	}
}

// writeText writes each value as the shortest decimal that reads back to the same
// float32. header says whether to write a header line.
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

// appendRow appends decimal values and a line break. With leading, a separator
// stands before the first value, too.
func appendRow(line []byte, values []float32, separator byte, leading bool) []byte {
	for i, v := range values {
		if i > 0 || leading {
			line = append(line, separator)
		}
		line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
	}
	return append(line, '\n')
}
