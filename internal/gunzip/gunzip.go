// Package gunzip decompresses gzip as the command of that name does: members that follow
// each other are one text, and zeros at the end, which tapes and some tools pad files
// with, are no part of it. Start at [NewReader].
package gunzip

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Magic begins every file of gzip.
const Magic = "\x1f\x8b"

// ErrTrailing is the error of a file in which something else follows the compressed
// text.
var ErrTrailing = errors.New("what follows the compressed text is not gzip: the file was damaged, or something was appended to it")

// A reader reads one member after the other.
type reader struct {
	in   *bufio.Reader
	gzip *gzip.Reader
}

// NewReader returns the text of a gzip file. Errors are those of gzip, also
// io.ErrUnexpectedEOF for a file that is cut off, and [ErrTrailing].
func NewReader(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r) // r itself if it is one that is large enough
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &reader{in, z}, nil
}

// Read implements io.Reader on the text.
func (r *reader) Read(p []byte) (int, error) {
	for {
		n, err := r.gzip.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 || len(p) == 0 {
			return n, nil // the next call meets the end again
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
}

// next goes to the next member; the error is io.EOF if there is none.
func (r *reader) next() error {
	zeros := int64(0)
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			break
		}
		zeros++
	}
	if err := r.in.UnreadByte(); err != nil {
		return err
	}
	if head, _ := r.in.Peek(len(Magic)); string(head) != Magic {
		return fmt.Errorf("%w (after %d bytes of zero)", ErrTrailing, zeros)
	}
	if err := r.gzip.Reset(r.in); err != nil {
		return err
	}
	r.gzip.Multistream(false)
	return nil
}

// Close implements io.Closer. It leaves the file open.
func (r *reader) Close() error { return r.gzip.Close() }
