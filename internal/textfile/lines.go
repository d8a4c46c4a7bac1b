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
		l.err = fmt.Errorf("it has more than %d bytes, too many for a list", LongestLine)
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

// LineBlocks cuts a text into blocks of whole lines.
type LineBlocks struct {
	In      io.Reader
	Longest int // bytes that a line may have, about; 0: any number

	rest  []byte // begins with a line
	lines int    // before rest
	err   error
}

// blockBytes is the least number of bytes in a block other than the last.
const blockBytes = 512 << 10

// Next returns the next lines and the number of the first one, counted from 1. The lines may use the memory of block, which may be nil.
func (b *LineBlocks) Next(block []byte) (lines []byte, first int, err error) {
	lines = block[:0]
	lines, b.rest = append(lines, b.rest...), b.rest[:0]
	for b.err == nil && (len(lines) < blockBytes || bytes.IndexByte(lines[len(lines)-blockBytes:], '\n') < 0) {
		at := len(lines)
		if b.Longest > 0 && at > b.Longest+blockBytes {
			b.err = fmt.Errorf("line %d: it has more than %d bytes, too many for a list", b.lines+1+bytes.Count(lines, []byte("\n")), b.Longest)
			break
		}
		if lines, b.err = memory.Grow(lines, blockBytes+at/2); b.err != nil {
			break
		}
		n, err := io.ReadFull(b.In, lines[at:at+blockBytes])
		lines, b.err = lines[:at+n], err
	}
	if b.err == io.ErrUnexpectedEOF {
		b.err = io.EOF
	}
	if b.err != nil && (b.err != io.EOF || len(lines) == 0) {
		return nil, 0, b.err
	}
	if b.err == nil {
		end := bytes.LastIndexByte(lines, '\n') + 1
		b.rest = append(b.rest, lines[end:]...)
		lines = lines[:end]
	}
	first = b.lines + 1
	b.lines += bytes.Count(lines, []byte("\n"))
	return lines, first, nil
}
