package textfile

import (
	"bufio"
	"compress/bzip2"
	"context"
	"io"
	"strings"

	"github.com/cosnicolaou/pbzip2"
)

// openBzip2 decompresses the blocks of a bzip2 file side by side.
func openBzip2(in *bufio.Reader, threads int) (io.ReadCloser, error) {
	if threads < 2 {
		return io.NopCloser(bzip2.NewReader(in)), nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := pbzip2.NewReader(ctx, in, pbzip2.DecompressionOptions(pbzip2.BZConcurrency(threads)))
	return &bzip2Reader{r, cancel}, nil
}

// A bzip2Reader stops its goroutines when it is closed.
type bzip2Reader struct {
	io.Reader
	cancel context.CancelFunc
}

// Read implements io.Reader. Package pbzip2 has no error of its own for a file that is
// cut off.
func (r *bzip2Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF && strings.Contains(err.Error(), "failed to find trailer") {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (r *bzip2Reader) Close() error {
	r.cancel()
	_, _ = r.Reader.Read(make([]byte, 1)) // which waits for them
	return nil
}
