package textfile

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"unicode/utf8"
)

// Columns say how the lines of a list are divided into columns.
type Columns struct {
	Separator byte // a tab, comma or semicolon; ' ' stands for any number of spaces and tabs
	Count     int
}

// A Field is the text in one column of a line.
type Field struct {
	Text []byte
	At   int // the place of the column in the line, in bytes from 1
}

// A Row is the columns of a line.
type Row struct {
	Line   int // its number
	Fields []Field
}

// FindColumns decides from the first lines of a list how all lines are divided: by the separator that divides each
// line into the same number of columns. Of several separators it takes the one that makes the most columns, and
// spaces only if no other makes two. It returns the first lines as rows. Errors name line and column.
func FindColumns(lines iter.Seq2[int, []byte]) (c Columns, rows []Row, err error) {
	var uneven error
	for _, separator := range separators {
		next := Columns{Separator: byte(separator)}
		switch found, err := next.divide(lines); {
		case err != nil && next.Count != 1: // 0: a quotation mark does not end
			uneven = cmp.Or(uneven, err)
		case err != nil || next.Count < max(2, c.Count): // others divide the lines
		case next.Count == c.Count:
			return c, nil, fmt.Errorf("line %d, column 1: more than one of tab, comma and semicolon divides each line: use only one", rows[0].Line)
		default:
			c, rows = next, found
		}
	}
	if rows == nil {
		c.Separator = ' '
		if rows, err = c.divide(lines); err != nil || c.Count == 1 {
			err = cmp.Or(uneven, err)
		}
	}
	return c, rows, err
}

// LineEnds are characters that other programs end lines with.
const LineEnds = "\r\v\f\u0085\u2028\u2029"

// divide divides the first lines. The first line sets the number of columns.
func (c *Columns) divide(lines iter.Seq2[int, []byte]) (rows []Row, err error) {
	for number, line := range lines {
		if at := bytes.IndexAny(bytes.TrimSuffix(line, []byte{'\r'}), LineEnds); at >= 0 {
			end, _ := utf8.DecodeRune(line[at:])
			return nil, fmt.Errorf("line %d, column %d: a line ends with %U: write LF or CR LF", number, at+1, end)
		}
		fields, err := c.Split(nil, line)
		if err != nil {
			return nil, fmt.Errorf("line %d, %w", number, err)
		}
		c.Count = len(fields)
		if rows = append(rows, Row{number, fields}); len(rows) == mostRows {
			break
		}
	}
	return rows, nil
}

// Split appends the columns of a line to fields, and removes quotation marks around them. An error begins with the
// column's place in the line.
func (c Columns) Split(fields []Field, line []byte) ([]Field, error) {
	line = bytes.TrimRight(bytes.TrimSuffix(line, []byte{'\r'}), " ")
	if c.Separator == ' ' {
		line = bytes.TrimRight(line, "\t ")
	}
	for at := 0; at <= len(line); at++ {
		for at < len(line) && c.isBlank(line[at]) {
			at++
		}
		f := Field{At: at + 1}
		for at < len(line) && !c.separates(line[at]) {
			at++
		}
		f.Text = bytes.TrimRight(line[f.At-1:at], " \t")
		switch quoted := len(f.Text) > 1 && f.Text[0] == '"'; {
		case quoted && f.Text[len(f.Text)-1] == '"':
			f.Text = bytes.ReplaceAll(f.Text[1:len(f.Text)-1], []byte(`""`), []byte(`"`))
		case quoted && c.Separator != '\t':
			return nil, fmt.Errorf("column %d: %q begins with a quotation mark and does not end with one: a column must not contain the separator", f.At, f.Text)
		}
		fields = append(fields, f)
	}
	if c.Count > 0 && len(fields) != c.Count {
		return nil, fmt.Errorf("column %d: it has %d columns separated by %ss, and the first line has %d",
			len(line)+1, len(fields), c.separator(), c.Count)
	}
	return fields, nil
}

func (c Columns) separates(b byte) bool { return b == c.Separator || b == '\t' && c.Separator == ' ' }

// isBlank reports whether a byte around a column does not belong to it.
func (c Columns) isBlank(b byte) bool { return b == ' ' || b == '\t' && c.Separator != '\t' }

func (c Columns) separator() string {
	return map[byte]string{'\t': "tab", ',': "comma", ';': "semicolon", ' ': "space"}[c.Separator]
}

// String describes the columns to the user.
func (c Columns) String() string {
	return fmt.Sprintf("%d columns separated by %ss", c.Count, c.separator())
}
