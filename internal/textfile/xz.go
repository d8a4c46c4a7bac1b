package textfile

import (
	"bufio"
	"bytes"
	"io"

	"github.com/ulikunitz/xz"
)

func openXZ(r *bufio.Reader, _ int) (io.ReadCloser, error) {
	x := &xzReader{}
	d, err := xz.NewReader(tailReader{r, &x.tail})
	if err != nil {
		return nil, err
	}
	x.text = d
	return io.NopCloser(x), nil
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
