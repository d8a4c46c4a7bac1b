package textfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A table is the shape of a text with columns: CSV, or TSV.
type table struct {
	separator rune
	columns   []string
}

// separators are what may stand between columns.
var separators = []rune{'\t', ',', ';'}

// tableWith returns the table whose first line is the head's and that has a column of this
// name. If none has it, ok is false and the table is the one of the most columns.
func tableWith(head []byte, column string) (t table, ok bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, separator := range separators {
		columns, _, err := table{separator: separator}.rows(bytes.NewReader(line))()
		if err == nil && slices.Contains(columns, column) {
			return table{separator, columns}, true
		}
		if err == nil && len(columns) > len(t.columns) {
			t = table{separator, columns}
		}
	}
	return t, false
}

// rows returns what reads a row, with the number of its first line.
func (t table) rows(r io.Reader) func() ([]string, int, error) {
	limited := &rowLimit{in: r, most: min(mostRow, memory.Left()/rowFactor)}
	if t.separator == '\t' {
		return tabbed(limited)
	}
	quoted := csv.NewReader(limited)
	quoted.Comma, quoted.FieldsPerRecord = t.separator, -1
	last := 0
	return func() ([]string, int, error) {
		row, err := quoted.Read()
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong):
			return nil, 0, &recordError{fmt.Sprintf("line %d", wrong.StartLine), wrong.Err}
		case errors.Is(err, errLongRow):
			return nil, 0, &recordError{fmt.Sprintf("the row behind line %d", last), err}
		case err != nil:
			return nil, 0, err
		}
		limited.before = quoted.InputOffset()
		last, _ = quoted.FieldPos(0)
		return row, last, nil
	}
}

// tabbed returns the rows of TSV, whose cells have no line feed. Quotation marks mean nothing unless they stand on both sides of a cell.
func tabbed(limited *rowLimit) func() ([]string, int, error) {
	in, line := bufio.NewReaderSize(limited, 64<<10), 0
	return func() ([]string, int, error) {
		text, err := in.ReadString('\n')
		if errors.Is(err, errLongRow) {
			return nil, 0, &recordError{fmt.Sprintf("the row behind line %d", line), err}
		}
		if err != nil && (err != io.EOF || text == "") {
			return nil, 0, err
		}
		line++
		limited.before += int64(len(text))
		row := strings.Split(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), "\t")
		for i, cell := range row {
			if len(cell) >= 2 && cell[0] == '"' && cell[len(cell)-1] == '"' {
				row[i] = strings.ReplaceAll(cell[1:len(cell)-1], `""`, `"`)
			}
		}
		return row, line, nil
	}
}

// A row longer than mostRow bytes has lost a quotation mark or a line feed. Package csv takes up to rowFactor bytes of memory for each.
const (
	mostRow   = 64 << 20
	rowFactor = 32
)

var errLongRow = errors.New("a quotation mark or a line feed is missing, or it takes more memory")

// A rowLimit ends a text at a row that would not fit into memory.
type rowLimit struct {
	in           io.Reader
	read, before int64 // bytes in all, and of the rows before
	most         int64
}

// Read implements io.Reader.
func (l *rowLimit) Read(p []byte) (int, error) {
	if l.read-l.before > l.most {
		return 0, fmt.Errorf("it has more than %s: %w", terminal.Bytes(l.most), errLongRow)
	}
	n, err := l.in.Read(p)
	l.read += int64(n)
	return n, err
}

// texts returns the texts of a column, each followed by a line feed, of a table that r has
// from its first line on. Empty cells have no text. The error of a row is a recordError.
func (t table) texts(r io.Reader, column string) io.Reader {
	return &tableReader{next: t.rows(r), column: slices.Index(t.columns, column), columns: len(t.columns)}
}

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
			return 0, &recordError{fmt.Sprintf("line %d", line), fmt.Errorf("it has %d columns, and the first line %d: mend it, or write it with quotation marks around cells that have separators", len(row), t.columns)}
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
