package textfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"

	"github.com/w2vcl/w2vcl/internal/memory"
)

func openXZ(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r) // r itself if it is one that is large enough
	done, err := memory.Room(xzWindow(in))
	if err != nil {
		return nil, fmt.Errorf("the window of the decompression: %w", err)
	}
	done() // what is written to it shows in the memory of the process
	x := &xzReader{}
	if x.text, err = xz.NewReader(tailReader{in, &x.tail}); err != nil {
		return nil, err
	}
	return io.NopCloser(x), nil
}

// xzWindow returns the size of the window of the first block in bytes, 0 if the file does not begin as xz writes it
// (file format 1.2, sections 3.1 and 5.3.1): package xz allocates it as a whole, and Go may clear it.
func xzWindow(r *bufio.Reader) int64 {
	const header, most, sized, lzma2 = 12, 2 * 9, 0xc0, 0x21 // bytes: of the stream, of two sizes
	head, _ := r.Peek(header + 2 + most + 3)                 // what is there: a short file has less
	if len(head) < header+2 {
		return 0
	}
	flags, filter := head[header+1], head[header+2:]
	for flag := byte(0x40); flag&sized != 0; flag <<= 1 { // compressed and uncompressed size
		if flags&flag != 0 {
			_, n := binary.Uvarint(filter)
			filter = filter[max(n, 0):]
		}
	}
	if len(filter) < 3 || filter[0] != lzma2 || filter[2] > 40 {
		return 0
	}
	bits := filter[2]
	return int64(2|bits&1) << (bits/2 + 11)
}

// An xzReader notices a file that was cut off between its parts, which package xz takes
// for the end: a whole file ends with the magic number of its footer, and zeros.
type xzReader struct {
	text io.Reader
	tail []byte // the last bytes read, without zeros behind them
}

const xzFooter = "YZ"

func (x *xzReader) Read(p []byte) (int, error) {
	n, err := x.text.Read(p)
	if err == io.EOF && !bytes.HasSuffix(x.tail, []byte(xzFooter)) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// A tailReader remembers the last bytes that are not zero.
type tailReader struct {
	io.Reader
	tail *[]byte
}

func (t tailReader) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if end := bytes.TrimRight(p[:n], "\x00"); len(end) > 0 {
		joined := append(*t.tail, end[max(0, len(end)-len(xzFooter)):]...)
		*t.tail = append([]byte(nil), joined[max(0, len(joined)-len(xzFooter)):]...)
	}
	return n, err
}
