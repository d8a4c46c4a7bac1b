package textfile

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/w2vcl/w2vcl/internal/memory"
)

const (
	leastWindow = 8 << 20 // every decoder must have it
	mostWindow  = 2 << 30 // what the zstd command writes at most (--long=31)
)

// Zstd returns the text of a zstd file.
func Zstd(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r) // r itself if it is one that is large enough
	var h zstd.Header
	head, _ := in.Peek(zstd.HeaderMaxSize)
	if h.Decode(head) != nil { // the decoder says what is wrong
		h.WindowSize = 0
	}
	window := min(max(uint64(memory.Left())/8, h.WindowSize, leastWindow), mostWindow) // of later frames, too
	done, err := memory.Room(2 * int64(min(h.WindowSize, mostWindow)))                 // the decoder keeps two
	if err != nil {
		return nil, zstd.ErrWindowSizeExceeded
	}
	done() // they grow with the text, which is watched
	d, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
