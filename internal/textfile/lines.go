package textfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// LongestLine is the longest line of a list in bytes: of words, edges, phrases or questions. None of
// them needs as many, and a file that has more is no list.
const LongestLine = 1 << 20

// Lines reads the lines of a list.
type Lines struct {
	in     *bufio.Reader
	line   []byte
	err    error
	Number int // of the line, from 1
}

// NewLines returns the lines that r holds. They end with an error when what was made of them fills
// the memory.
func NewLines(r io.Reader) *Lines {
	return &Lines{in: bufio.NewReaderSize(memory.NewReader(context.Background(), r), LongestLine)}
}

// Next goes to the next line, and reports whether there is one.
func (l *Lines) Next() bool {
	if l.err != nil {
		return false
	}
	l.line, l.err = l.in.ReadSlice('\n')
	l.Number++
	switch {
	case l.err == io.EOF:
		return len(l.line) > 0
	case errors.Is(l.err, bufio.ErrBufferFull):
		l.err = fmt.Errorf("it has more than %d bytes, as no line of a list has", LongestLine)
	}
	return l.err == nil
}

// Bytes returns the line without its end, LF or CR LF, and without a byte order mark. It is valid until Next is called.
func (l *Lines) Bytes() []byte {
	line := bytes.TrimSuffix(bytes.TrimSuffix(l.line, []byte("\n")), []byte("\r"))
	if l.Number == 1 {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return line
}

// Text is Bytes as a string, which stays.
func (l *Lines) Text() string { return string(l.Bytes()) }

// Err returns what ended the lines, unless it was their end. It names the line.
func (l *Lines) Err() error {
	if l.err == nil || l.err == io.EOF {
		return nil
	}
	return fmt.Errorf("line %d: %w", l.Number, l.err)
}
