package memory

import (
	"context"
	"io"
)

// checkEvery is how many bytes a [Reader] reads between two checks of memory.
const checkEvery = 4 << 20

// A Reader reads a file that may be hostile: it ends with the error of a context
// that is done, and with [ErrRoom] when what was made of the file so far fills the
// memory. It stands behind decompression, because few compressed bytes may be many.
type Reader struct {
	ctx   context.Context
	r     io.Reader
	fresh int // bytes since the last check
}

// NewReader returns a Reader of r.
func NewReader(ctx context.Context, r io.Reader) *Reader { return &Reader{ctx: ctx, r: r} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.fresh >= checkEvery {
		r.fresh = 0
		done, err := Room(checkEvery)
		if err != nil {
			return 0, err
		}
		done()
	}
	n, err := r.r.Read(p)
	r.fresh += n
	return n, err
}
