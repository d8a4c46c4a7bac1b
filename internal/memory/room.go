package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// ErrRoom says that there is no room for something to be read: how much it needs is
// known only while it is read, unlike the work that a [Guard] checks beforehand.
var ErrRoom = errors.New("not enough memory")

// room is the memory that the process may use, for all that read at the same time.
var room struct {
	sync.Mutex
	guard    Guard // the innermost one; without a limit, the machine's available memory counts
	promised int64 // bytes that were given away but are perhaps not resident yet
}

// unchecked is how much memory readers may take without asking, in bytes: asking
// costs some microseconds.
const unchecked = 1 << 20

// Room asks for memory before it is allocated. The caller calls done when it has
// written to the memory, or has given it up. The error wraps [ErrRoom]: there is not
// so much left of --max-memory or, without it, of what the machine has.
func Room(bytes int64) (done func(), err error) {
	if bytes < unchecked {
		return func() {}, nil
	}
	room.Lock()
	defer room.Unlock()
	if roomFor(bytes, machine.Resident()) != nil {
		if err := roomFor(bytes, Resident()); err != nil {
			return nil, err
		}
	}
	room.promised += bytes
	return sync.OnceFunc(func() {
		room.Lock()
		room.promised -= bytes
		room.Unlock()
	}), nil
}

// A Meter asks for the memory of many small pieces, some megabytes at a time.
type Meter struct{ fresh int64 } // bytes since it asked

// meterStep is how many bytes a [Meter] lets pass before it asks for as many.
const meterStep = 4 << 20

// Take notes so many bytes that are about to be written. The error wraps [ErrRoom].
func (m *Meter) Take(bytes int64) error {
	if m.fresh += bytes; m.fresh < meterStep {
		return nil
	}
	done, err := Room(m.fresh)
	if err == nil {
		done()
	}
	m.fresh = 0
	return err
}

// Left is about how many bytes [Room] would give now. Where the memory is not known it
// is the largest number.
func Left() int64 {
	room.Lock()
	defer room.Unlock()
	if limit, left := left(machine.Resident()); limit > 0 {
		return max(left, 0)
	}
	return math.MaxInt64
}

// left returns the limit of memory, 0 if it is not known, and what is left of it by a process that has so
// much resident.
func left(resident int64) (limit, left int64) {
	if room.guard.Asked {
		limit = room.guard.Limit
		return limit, limit - resident - room.promised
	}
	limit, left = machine.Memory()
	if left == 0 { // not known
		left = limit - resident
	}
	return limit, left - room.promised
}

// roomFor returns why there is no room for bytes in a process that has so much resident.
func roomFor(bytes, resident int64) error {
	whose := "this machine or its limits (ulimit, control group) allow"
	if room.guard.Asked {
		whose = "--max-memory allows"
	}
	limit, left := left(resident)
	if limit == 0 {
		return nil
	}
	if bytes > left {
		return fmt.Errorf("%w: %s more are needed, %s are left of the %s that %s", ErrRoom,
			terminal.Bytes(bytes), terminal.Bytes(max(left, 0)), terminal.Bytes(limit), whose)
	}
	return roomForAddresses(bytes)
}

// addressReserve is what Go takes of the address space at a time, and heapBlock by what its heap grows.
const (
	addressReserve = 64 << 20
	heapBlock      = 4 << 20
)

// roomForAddresses checks the limit of the address space. Go keeps the addresses of
// memory that it gave back and uses them again, but perhaps not in one piece.
func roomForAddresses(bytes int64) error {
	limit, left, limited := machine.AddressSpace()
	if !limited || bytes+addressReserve <= left {
		return nil
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if bytes+heapBlock <= int64(stats.HeapIdle)/4 {
		return nil
	}
	return fmt.Errorf("%w: %s more are needed, %s are left of the address space of %s (ulimit -v)", ErrRoom,
		terminal.Bytes(bytes), terminal.Bytes(left), terminal.Bytes(limit))
}

// Grow returns the slice with room for n more values, as [slices.Grow], or an error
// that wraps [ErrRoom].
func Grow[T any](x []T, n int) ([]T, error) {
	if n <= cap(x)-len(x) {
		return x, nil
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	capacity := max(len(x)+n, cap(x)+cap(x)/4, 16)
	done, err := Room(int64(capacity) * int64(size))
	if err != nil {
		return x, err
	}
	defer done()
	grown := make([]T, len(x), capacity)
	copy(grown, x)
	return grown, nil
}

// Append is append that asks for memory.
func Append[T any](x []T, values ...T) ([]T, error) {
	x, err := Grow(x, len(values))
	if err != nil {
		return x, err
	}
	return append(x, values...), nil
}

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
