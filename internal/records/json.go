// Package records takes the text out of records: one field of each object of JSON lines, or
// one column of a file of parquet, CSV or TSV; and it notices records where text is expected.
// Start at [JSONLines], [Parquet], [Table] and [Notice].
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// An Error says in which line or row a record is that cannot be read.
type Error struct {
	Place string // "line 12", "row 12"
	Err   error
}

func (e *Error) Error() string { return e.Place + ": " + e.Err.Error() }

// Unwrap returns the error without the place.
func (e *Error) Unwrap() error { return e.Err }

// ErrNoField is wrapped by the error of records none of which has the field.
var ErrNoField = errors.New("no record has this field")

// IsJSON reports whether a text that begins so may be JSON lines.
func IsJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && head[0] == '{'
}

// jsonBlock is the least number of bytes whose lines are parsed together.
const jsonBlock = 512 << 10

// JSONLines returns the texts that the objects have in a field, each followed by a line
// feed. Each line of r is an object or blank. A field of an object in an object is
// a.b. Objects without the field, or with null there, have no text. NUL bytes of a text
// become spaces, because text has none. The error of a record is an [Error]; one that
// wraps [ErrNoField] says that no object has the field. Up to threads blocks of lines
// are parsed at the same time.
func JSONLines(r io.Reader, field string, threads int) io.ReadCloser {
	s := &lineSplitter{r: r}
	counts := make(chan int, 1)
	counts <- 0 // of texts found
	return parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		lines, first, err := s.next()
		if len(lines) == 0 {
			if err == io.EOF {
				return nil, &endReader{counts, field}, nil
			}
			return nil, nil, err
		}
		return func() parallel.Block {
			text, found, err := jsonTexts(lines, first, field)
			counts <- found + <-counts
			return parallel.Block{Data: text, Err: err}
		}, nil, nil
	})
}

// An endReader tells at the end if there was no text at all.
type endReader struct {
	counts chan int
	field  string
}

func (e *endReader) Read([]byte) (int, error) {
	found := <-e.counts
	e.counts <- found
	if found == 0 {
		return 0, fmt.Errorf("%w: --field %s", ErrNoField, e.field)
	}
	return 0, io.EOF
}

// A lineSplitter cuts a text into blocks of whole lines.
type lineSplitter struct {
	r     io.Reader
	rest  []byte // begins with a line
	lines int    // before rest
	err   error
}

// next returns the next lines and the number of the first one, counted from 1.
func (s *lineSplitter) next() (lines []byte, first int, err error) {
	buffer := s.rest
	for scanned := 0; s.err == nil; {
		if at := bytes.LastIndexByte(buffer[scanned:], '\n'); at >= 0 && len(buffer) >= jsonBlock {
			at += scanned + 1
			s.rest = append([]byte(nil), buffer[at:]...)
			return s.cut(buffer[:at])
		} else if at < 0 {
			scanned = len(buffer)
		}
		if buffer, s.err = memory.Grow(buffer, jsonBlock+len(buffer)/2); s.err != nil {
			return nil, 0, s.err
		}
		n, err := s.r.Read(buffer[len(buffer):cap(buffer)])
		buffer, s.err = buffer[:len(buffer)+n], err
	}
	s.rest = nil
	if s.err != io.EOF || len(buffer) == 0 {
		return nil, 0, s.err
	}
	return s.cut(buffer)
}

func (s *lineSplitter) cut(lines []byte) ([]byte, int, error) {
	first := s.lines + 1
	s.lines += bytes.Count(lines, []byte("\n"))
	return lines, first, nil
}

// jsonTexts returns the texts of some lines, of which the first has this number, and how
// many there are.
func jsonTexts(lines []byte, first int, field string) (text []byte, found int, err error) {
	text = make([]byte, 0, len(lines))
	for number := first; len(lines) > 0; number++ {
		line := lines
		if at := bytes.IndexByte(lines, '\n'); at >= 0 {
			line, lines = lines[:at], lines[at+1:]
		} else {
			lines = nil
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		value, ok, err := jsonField(line, field)
		if err != nil {
			return text, found, &Error{fmt.Sprintf("line %d", number), err}
		}
		if ok {
			found++
			text = appendText(text, value)
		}
	}
	return text, found, nil
}

// appendText appends the text of a record as lines.
func appendText(text []byte, value string) []byte {
	at := len(text)
	text = append(text, value...)
	removeNUL(text[at:])
	return append(text, '\n')
}

// removeNUL makes NUL bytes spaces.
func removeNUL(text []byte) {
	for i, c := range text {
		if c == 0 {
			text[i] = ' '
		}
	}
}

// jsonField returns the text that an object has in a field; ok is false if it has none.
func jsonField(object []byte, field string) (text string, ok bool, err error) {
	const fieldBytes = 150 // of memory, measured
	done, err := memory.Room(fieldBytes * int64(bytes.Count(object, []byte(":"))))
	if err != nil {
		return "", false, err
	}
	defer done()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return "", false, fmt.Errorf("this is no JSON object: %w", err)
		}
		return "", false, errors.New("this is JSON, but not an object")
	}
	value, ok := fields[field]
	if !ok {
		if outer, inner, nested := strings.Cut(field, "."); nested && len(fields[outer]) > 0 && fields[outer][0] == '{' {
			return jsonField(fields[outer], inner)
		}
		return "", false, nil
	}
	if string(value) == "null" {
		return "", false, nil
	}
	if err := json.Unmarshal(value, &text); err != nil {
		return "", false, fmt.Errorf("its %q is not a text: it begins with %.20q", field, value)
	}
	return text, true, nil
}
