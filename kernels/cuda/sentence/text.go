//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// A text is the text on the device: all of it, or pieces of whole
// units in two buffers, of which one is filled while the other is trained on. The
// host's own memory may be anywhere, so a piece goes through pinned memory, in
// parts: while one is copied to the device, the host copies the next.
type text struct {
	device   *cuda.Device
	tokens   Text
	whole    []uint32 // all tokens, if they are in memory
	starts   []int    // first token of each unit of an epoch, and the end
	units    []int    // first sentence of each
	walker   *walker  // makes the text on the device, without tokens and whole; nil: the host brings it
	numbers  numbers
	renumber cu.Function

	buffers []textBuffer // one, with all of the text, or two
	piece   int          // tokens that a buffer of two holds
	copies  cu.Stream
	staging [2]staging
}

// A textBuffer holds the units first to end of an epoch.
type textBuffer struct {
	memory      cu.DevicePtr
	first, end  int
	ready, used cu.Event // filled; trained on
}

type staging struct {
	memory []uint32
	copied cu.Event
}

const stagingTokens = 4 << 20

// newText brings a text to the device if it may have so many tokens there; 0 is any number. sentences is where
// the sentences begin.
func newText(d *cuda.Device, c *Options, n numbers, sentences cu.DevicePtr) (*text, error) {
	t := &text{device: d, tokens: c.text(), whole: c.Tokens, numbers: n, units: c.Units}
	longest := 0
	for u, sentence := range c.Units {
		t.starts = append(t.starts, t.tokens.Start(sentence))
		if u > 0 {
			longest = max(longest, t.starts[u]-t.starts[u-1])
		}
	}
	var err error
	if t.renumber, err = d.Function(built, "text", "sentence_renumber"); err != nil {
		return nil, err
	}
	if c.Walks != nil {
		if t.walker, err = newWalker(d, c.Walks, sentences); err != nil {
			return nil, err
		}
	}
	if c.TextTokens == 0 || c.TextTokens >= t.tokens.Tokens() {
		return t, t.placeAll()
	}
	each := c.TextTokens / 2
	if each < longest {
		return nil, fmt.Errorf("text of %d tokens on the device: two units may need %d", c.TextTokens, 2*longest)
	}
	return t, t.allocate(each)
}

func (t *text) placeAll() error {
	var p cu.DevicePtr
	m := &cuda.Allocator{Device: t.device}
	switch {
	case t.walker != nil:
		p = m.Bytes("text", 4*t.tokens.Tokens())
	case t.whole != nil:
		p = cuda.Placed(m, "text", t.whole)
	default:
		p = cuda.PlacedParts(m, "text", t.tokens.Tokens(), func(to []uint32, first int) { t.tokens.Copy(to, t.starts[0]+first) })
	}
	if m.Err != nil {
		return m.Err
	}
	t.buffers = []textBuffer{{memory: p, end: len(t.starts) - 1}}
	if t.walker != nil {
		if err := t.walker.walk(t.base(0), 0, t.tokens.Sentences(), t.device.Stream()); err != nil {
			return err
		}
	}
	return t.renumberTokens(p, t.tokens.Tokens(), t.device.Stream())
}

func (t *text) allocate(tokens int) (err error) {
	t.buffers, t.piece = make([]textBuffer, 2), tokens
	if t.copies, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return err
	}
	for i := range t.buffers {
		b := &t.buffers[i]
		if b.memory, err = t.device.Allocate("a piece of the text", cuda.Bytes[uint32](tokens)); err != nil {
			return err
		}
		if b.ready, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
		if b.used, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
		s := &t.staging[i]
		if s.memory, err = cuda.Pinned[uint32](min(stagingTokens, tokens)); err != nil {
			return err
		}
		if s.copied, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
	}
	return nil
}

func (t *text) close() error {
	if len(t.buffers) < 2 {
		return nil
	}
	err := t.copies.Synchronize()
	for i := range t.buffers {
		b, s := &t.buffers[i], &t.staging[i]
		err = errors.Join(err, t.device.Free(b.memory), cu.DestroyEvent(&b.ready), cu.DestroyEvent(&b.used), cuda.Unpin(s.memory), cu.DestroyEvent(&s.copied))
	}
	return errors.Join(err, t.copies.Destroy())
}

// renumberTokens gives words the numbers they have on the device.
func (t *text) renumberTokens(memory cu.DevicePtr, count int, s cu.Stream) error {
	grid := cuda.Grid{Blocks: 8 * t.device.Multiprocessors, Threads: 256}
	return cuda.LaunchValuesOn(s, t.renumber, grid, uint64(memory), uint64(count), uint64(t.numbers.successor), uint64(t.numbers.vocabulary))
}

// hold returns the number of a buffer that holds unit u of an epoch. Kernels that are launched
// on the device's stream after it find the text there.
func (t *text) hold(u int) (int, error) {
	if len(t.buffers) == 1 {
		return 0, nil
	}
	for i := range t.buffers {
		if b := &t.buffers[i]; b.first <= u && u < b.end {
			return i, t.device.Stream().Wait(b.ready, 0)
		}
	}
	if err := t.fill(0, u); err != nil {
		return 0, err
	}
	return 0, t.device.Stream().Wait(t.buffers[0].ready, 0)
}

// prepare is called after a launch that reads buffer i. It fills the other one with
// the units that come next.
func (t *text) prepare(i int) error {
	if len(t.buffers) == 1 {
		return nil
	}
	if err := t.buffers[i].used.Record(t.device.Stream()); err != nil {
		return err
	}
	next := t.buffers[i].end % (len(t.starts) - 1)
	other := &t.buffers[1-i]
	if other.first <= next && next < other.end || t.buffers[i].first <= next && next < t.buffers[i].end {
		return nil
	}
	return t.fill(1-i, next)
}

// fill brings as many units as fit, from u on, into buffer i.
func (t *text) fill(i, u int) error {
	b := &t.buffers[i]
	b.first, b.end = u, u+1
	for b.end < len(t.starts)-1 && t.starts[b.end+1]-t.starts[u] <= t.piece {
		b.end++
	}
	if err := t.copies.Wait(b.used, 0); err != nil {
		return err
	}
	start, tokens := t.starts[u], t.starts[b.end]-t.starts[u]
	if t.walker != nil {
		if err := t.walker.walk(t.base(i), t.units[u], t.units[b.end], t.copies); err != nil {
			return err
		}
		return errors.Join(t.renumberTokens(b.memory, tokens, t.copies), b.ready.Record(t.copies))
	}
	for n, at := 0, 0; at < tokens; n++ {
		s := &t.staging[n%2]
		if err := s.copied.Synchronize(); err != nil {
			return err
		}
		part := min(len(s.memory), tokens-at)
		cuda.Parallel(part, func(first, end int) { t.tokens.Copy(s.memory[first:end], start+at+first) })
		if err := cu.MemcpyHtoDAsync(b.memory+cu.DevicePtr(4*at), unsafe.Pointer(&s.memory[0]), cuda.Bytes[uint32](part), t.copies); err != nil {
			return err
		}
		if err := s.copied.Record(t.copies); err != nil {
			return err
		}
		at += part
	}
	if err := t.renumberTokens(b.memory, tokens, t.copies); err != nil {
		return err
	}
	return b.ready.Record(t.copies)
}

// base returns where token 0 of the text would be if all of it were in memory with
// buffer i.
func (t *text) base(i int) cu.DevicePtr {
	b := &t.buffers[i]
	return b.memory - 4*cu.DevicePtr(t.starts[b.first])
}
