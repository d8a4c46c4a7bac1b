package textfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A recordError says in which line or row a record is that cannot be read.
type recordError struct {
	place string // "line 12", "row 12"
	err   error
}

func (e *recordError) Error() string { return e.place + ": " + e.err.Error() }

// Unwrap returns the error without the place.
func (e *recordError) Unwrap() error { return e.err }

// errNoField is wrapped by the error of records none of which has the field.
var errNoField = errors.New("no record has this field")

// isJSON reports whether a text that begins so may be JSON lines.
func isJSON(head []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) }

// jsonLines returns the texts that the objects have in a field, each followed by a line
// feed. Each line of r is an object or blank. A field of an object in an object is
// a.b. Objects without the field, or with null there, have no text. The error of a record
// is a recordError; one that wraps errNoField says that no object has the field. Up to threads
// blocks of lines are parsed at the same time, because parsing takes longer than all that follows.
func jsonLines(r io.Reader, field string, threads int) io.ReadCloser {
	blocks := &LineBlocks{In: r}
	var found atomic.Bool
	texts := parallel.NewBlocks(threads, func() (func() parallel.Block, error) {
		lines, first, err := blocks.Next(nil)
		if err != nil {
			return nil, err
		}
		return func() parallel.Block {
			text, err := jsonTexts(lines, first, field)
			if len(text) > 0 {
				found.Store(true)
			}
			return parallel.Block{Data: text, Err: err}
		}, nil
	})
	return &fieldReader{texts, &found, field}
}

// A fieldReader tells at the end if there was no text at all.
type fieldReader struct {
	*parallel.Blocks
	found *atomic.Bool
	field string
}

// Read implements io.Reader.
func (f *fieldReader) Read(p []byte) (int, error) {
	n, err := f.Blocks.Read(p)
	if err == io.EOF && !f.found.Load() {
		err = fmt.Errorf("%w: --field %s", errNoField, f.field)
	}
	return n, err
}

// jsonTexts returns the texts of some lines, of which the first has this number.
func jsonTexts(lines []byte, number int, field string) (text []byte, err error) {
	text = make([]byte, 0, len(lines))
	for line := range bytes.Lines(lines) {
		if len(bytes.TrimSpace(line)) > 0 {
			value, ok, err := jsonField(line, field)
			if err != nil {
				return text, &recordError{fmt.Sprintf("line %d", number), err}
			}
			if ok {
				text = appendText(text, value)
			}
		}
		number++
	}
	return text, nil
}

// appendText appends the text of a record as lines. NUL bytes become spaces, because text has none.
func appendText[T string | []byte](text []byte, value T) []byte {
	at := len(text)
	text = append(text, value...)
	for i, c := range text[at:] {
		if c == 0 {
			text[at+i] = ' '
		}
	}
	return append(text, '\n')
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
