package textfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

const gzipMagic = "\x1f\x8b"

// ErrTrailing is the error of a file in which something else follows the compressed
// text.
var ErrTrailing = errors.New("what follows the compressed text is not gzip: the file was damaged, or something was appended to it")

// A gzipReader reads one member after the other.
type gzipReader struct {
	in      *bufio.Reader
	gzip    *gzip.Reader
	between bool // members: no member has been begun yet
}

// Gzip returns the text of a gzip file as the command of that name does: members that follow
// each other are one text, and zeros at the end, which tapes and some tools pad files with,
// are no part of it. Errors are those of gzip, also
// io.ErrUnexpectedEOF for a file that is cut off, and [ErrTrailing].
func Gzip(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r) // r itself if it is one that is large enough
	z := new(gzip.Reader)
	if err := begin(z, in); err != nil {
		return nil, err
	}
	return &gzipReader{in: in, gzip: z}, nil
}

// Read implements io.Reader on the text.
func (r *gzipReader) Read(p []byte) (int, error) {
	for {
		if r.between {
			if err := r.next(); err != nil {
				return 0, err
			}
			r.between = false
		}
		n, err := r.gzip.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 || len(p) == 0 {
			return n, nil // the next call meets the end again
		}
		r.between = true
	}
}

// next goes to the next member; the error is io.EOF if there is none.
func (r *gzipReader) next() error {
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
	if head, _ := r.in.Peek(len(gzipMagic)); string(head) != gzipMagic {
		return fmt.Errorf("%w (after %d bytes of zero)", ErrTrailing, zeros)
	}
	return begin(r.gzip, r.in)
}

// begin begins a member. A member that ends within its header is cut off: package gzip
// has io.EOF for some of these, which would end the text as if it were whole.
func begin(z *gzip.Reader, in io.Reader) error {
	err := z.Reset(in)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	z.Multistream(false)
	return err
}

// Close implements io.Closer. It leaves the file open.
func (r *gzipReader) Close() error {
	if r.between {
		return nil
	}
	return r.gzip.Close()
}
