package memory

import (
	"context"
	"io"
)

// A Reader reads a file that may be hostile: it ends with the error of a context
// that is done, and with [ErrRoom] when what was made of the file so far fills the
// memory. It stands behind decompression, because few compressed bytes may be many.
type Reader struct {
	ctx   context.Context
	r     io.Reader
	meter Meter
}

// NewReader returns a Reader of r.
func NewReader(ctx context.Context, r io.Reader) *Reader { return &Reader{ctx: ctx, r: r} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if full := r.meter.Take(int64(n)); full != nil {
		return 0, full
	}
	return n, err
}
