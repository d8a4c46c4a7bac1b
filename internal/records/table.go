package records

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table is the shape of a text with columns: CSV, or TSV.
type Table struct {
	Separator rune
	Columns   []string
}

// separators are what may stand between columns.
var separators = []rune{'\t', ',', ';'}

// TableWith returns the table whose first line is the head's and that has a column of this
// name. If none has it, ok is false and the table is the one of the most columns.
func TableWith(head []byte, column string) (t Table, ok bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, separator := range separators {
		columns, err := cells(line, separator)
		if err == nil && slices.Contains(columns, column) {
			return Table{separator, columns}, true
		}
		if err == nil && len(columns) > len(t.Columns) {
			t = Table{separator, columns}
		}
	}
	return t, false
}

// cells splits a line that stands alone.
func cells(line []byte, separator rune) ([]string, error) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if separator == '\t' {
		cells := strings.Split(string(line), "\t")
		for i := range cells {
			cells[i] = unquoted(cells[i])
		}
		return cells, nil
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma = separator
	return r.Read()
}

// unquoted returns a cell of TSV, where quotation marks mean nothing unless they stand on both sides.
func unquoted(cell string) string {
	if len(cell) >= 2 && cell[0] == '"' && cell[len(cell)-1] == '"' {
		return strings.ReplaceAll(cell[1:len(cell)-1], `""`, `"`)
	}
	return cell
}

// Texts returns the texts of a column, each followed by a line feed, of a table that r has
// from its first line on. Empty cells have no text. The error of a row is an [Error].
func (t Table) Texts(r io.Reader, column string) io.Reader {
	guard := &rowGuard{in: r, separator: byte(t.Separator), quotes: t.Separator != '\t', columns: len(t.Columns)}
	return &tableReader{next: t.rows(guard), column: slices.Index(t.Columns, column), columns: len(t.Columns)}
}

// rows returns what reads a row, with the number of its first line.
func (t Table) rows(r io.Reader) func() ([]string, int, error) {
	if t.Separator == '\t' {
		return tabbed(bufio.NewReaderSize(r, 64<<10))
	}
	quoted := csv.NewReader(r)
	quoted.Comma, quoted.ReuseRecord, quoted.FieldsPerRecord = t.Separator, true, -1
	return func() ([]string, int, error) {
		row, err := quoted.Read()
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return nil, 0, &Error{fmt.Sprintf("line %d", wrong.StartLine), wrong.Err}
		}
		if err != nil {
			return nil, 0, err
		}
		line, _ := quoted.FieldPos(0)
		return row, line, nil
	}
}

// tabbed returns the rows of TSV, whose cells have no line feed.
func tabbed(r *bufio.Reader) func() ([]string, int, error) {
	line := 0
	return func() ([]string, int, error) {
		text, err := r.ReadString('\n')
		if err != nil && (err != io.EOF || text == "") {
			return nil, 0, err
		}
		line++
		row, err := cells([]byte(strings.TrimSuffix(text, "\n")), '\t')
		return row, line, err
	}
}

// A tableReader reads the texts of a column.
type tableReader struct {
	next            func() (row []string, line int, err error)
	column, columns int
	titled          bool // the first row, of titles, was read
	text            []byte
}

// Read implements io.Reader.
func (t *tableReader) Read(p []byte) (int, error) {
	for len(t.text) == 0 {
		row, line, err := t.next()
		if err != nil {
			return 0, err
		}
		blank := len(row) == 1 && strings.TrimSpace(row[0]) == ""
		if len(row) != t.columns && !blank {
			return 0, &Error{fmt.Sprintf("line %d", line), fmt.Errorf("it has %d columns, and the first line %d: mend it, or write it with quotation marks around cells that have separators", len(row), t.columns)}
		}
		if t.titled && len(row) == t.columns && row[t.column] != "" {
			t.text = appendText(t.text[:0], row[t.column])
		}
		t.titled = true
	}
	n := copy(p, t.text)
	t.text = t.text[n:]
	return n, nil
}
