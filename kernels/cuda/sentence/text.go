//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"sort"
	"unsafe"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// A text is the text on the device: all of it, or pieces of whole
// units in two buffers, of which one is filled while the other is trained on. The
// host's own memory may be anywhere, so a piece goes through pinned memory, in
// parts: while one is copied to the device, the host copies the next.
//
// With the tokens of a buffer come the bounds of its sentences and their units, so that a text of any number of sentences fits.
type text struct {
	device   *cuda.Device
	tokens   Text
	whole    []uint32 // all tokens, if they are in memory
	starts   []int    // first token of each unit of an epoch, and the end
	units    []int    // first sentence of each, and the end
	walker   *walker  // makes the text on the device, without tokens and whole; nil: the host brings it
	numbers  numbers
	renumber cu.Function

	buffers []textBuffer // one, with all of the text, or two
	piece   int          // tokens that a buffer of two has room for
	copies  cu.Stream
	staging [2]staging
	staged  int // parts so far
}

// A textBuffer holds the units first to end of an epoch.
type textBuffer struct {
	memory      cu.DevicePtr // tokens
	sentences   cu.DevicePtr // first token of each sentence, and the end
	unitOf      cu.DevicePtr // of each sentence
	first, end  int
	ready, used cu.Event // filled; trained on
}

type staging struct {
	memory []uint32
	copied cu.Event
}

const stagingTokens = 4 << 20

// newText brings a text to the device if it may have so many tokens there; 0 is any number.
func newText(d *cuda.Device, c *Options, n numbers) (*text, error) {
	sizes := c.Sizes()
	t := &text{device: d, tokens: c.text(), whole: c.Tokens, numbers: n, units: c.Units, starts: sizes.starts}
	var err error
	if t.renumber, err = d.Function("sentence/text", "sentence_renumber"); err != nil {
		return nil, err
	}
	if c.Walks != nil {
		if t.walker, err = newWalker(d, c.Walks); err != nil {
			return nil, err
		}
	}
	h := sizes.held(c.TextTokens)
	if h.buffers == 1 {
		return t, t.placeAll()
	}
	if longest := sizes.LongestUnit(); h.tokens < longest {
		return nil, fmt.Errorf("text of %d tokens on the device: two units may need %d", c.TextTokens, 2*longest)
	}
	return t, t.allocate(h)
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
	count := t.tokens.Sentences()
	sentences := cuda.PlacedParts(m, "sentences", count+1, func(to [][2]uint32, first int) {
		t.startsOf(unsafe.Slice(&to[0][0], 2*len(to)), first)
	})
	unitOf := cuda.PlacedParts(m, "units", count, t.unitsOf)
	t.tokens.GiveBack()
	if m.Err != nil {
		return m.Err
	}
	t.buffers = []textBuffer{{memory: p, sentences: sentences, unitOf: unitOf, end: len(t.starts) - 1}}
	if t.walker != nil {
		if err := t.walker.walk(t.base(0), t.sentencesBase(0), 0, t.tokens.Sentences(), t.device.Stream()); err != nil {
			return err
		}
	}
	return t.renumberTokens(p, t.tokens.Tokens(), t.device.Stream())
}

func (t *text) allocate(h held) (err error) {
	t.buffers, t.piece = make([]textBuffer, h.buffers), h.tokens
	for i := range t.buffers {
		b, m := &t.buffers[i], &cuda.Allocator{Device: t.device}
		b.memory = m.Bytes("a piece of the text", 4*h.tokens)
		b.sentences, b.unitOf = m.Bytes("sentences", startBytes*(h.sentences+1)), m.Bytes("units", unitBytes*h.sentences)
		if m.Err != nil {
			return m.Err
		}
		if b.ready, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
		if b.used, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
		s := &t.staging[i]
		if s.memory, err = cuda.Pinned[uint32](max(min(stagingTokens, h.tokens), 2)); err != nil {
			return err
		}
		if s.copied, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return err
		}
	}
	t.copies, err = t.device.NewCopyStream()
	return err
}

func (t *text) close() error {
	if len(t.buffers) < 2 {
		return nil
	}
	err := t.copies.Synchronize()
	for i := range t.buffers {
		b, s := &t.buffers[i], &t.staging[i]
		err = errors.Join(err, t.device.Free(b.memory, b.sentences, b.unitOf), cu.DestroyEvent(&b.ready), cu.DestroyEvent(&b.used), cuda.Unpin(s.memory), cu.DestroyEvent(&s.copied))
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
	b.first, b.end = u, fitting(t.starts, u, t.piece)
	if err := t.copies.Wait(b.used, 0); err != nil {
		return err
	}
	start, tokens := t.starts[u], t.starts[b.end]-t.starts[u]
	first, end := t.units[u], t.units[b.end]
	err := errors.Join(
		t.bring(b.sentences, end-first+1, 2, func(to []uint32, at int) { t.startsOf(to, first+at) }),
		t.bring(b.unitOf, end-first, 1, func(to []uint32, at int) { t.unitsOf(to, first+at) }))
	if err != nil {
		return err
	}
	if t.walker != nil {
		err = t.walker.walk(t.base(i), t.sentencesBase(i), first, end, t.copies)
	} else {
		err = t.bring(b.memory, tokens, 1, func(to []uint32, at int) { t.tokens.Copy(to, start+at) })
	}
	t.tokens.GiveBack()
	return errors.Join(err, t.renumberTokens(b.memory, tokens, t.copies), b.ready.Record(t.copies))
}

// bring copies count values to the device; each consists of the given number of integers. put fills a buffer with values, from index at on.
func (t *text) bring(to cu.DevicePtr, count, numbers int, put func(to []uint32, at int)) error {
	for at := 0; at < count; t.staged++ {
		s := &t.staging[t.staged%2]
		if err := s.copied.Synchronize(); err != nil {
			return err
		}
		part := min(len(s.memory)/numbers, count-at)
		cuda.Parallel(part, func(first, end int) { put(s.memory[first*numbers:end*numbers], at+first) })
		if err := cu.MemcpyHtoDAsync(to+cu.DevicePtr(4*numbers*at), unsafe.Pointer(&s.memory[0]), cuda.Bytes[uint32](part*numbers), t.copies); err != nil {
			return err
		}
		if err := s.copied.Record(t.copies); err != nil {
			return err
		}
		at += part
	}
	return nil
}

// startsOf sets pairs of numbers to where sentences begin, from sentence first on. Several goroutines may call it.
func (t *text) startsOf(to []uint32, first int) {
	text := t.tokens
	if cut, ok := text.(*pieces); ok {
		text = cut.clone()
	}
	for i := range len(to) / 2 {
		start := uint64(text.Start(first + i))
		to[2*i], to[2*i+1] = uint32(start), uint32(start>>32)
	}
}

// unitsOf sets numbers to the units of sentences, from sentence first on.
func (t *text) unitsOf(to []uint32, first int) {
	u := sort.SearchInts(t.units, first+1) - 1
	for i := range to {
		for t.units[u+1] <= first+i {
			u++
		}
		to[i] = uint32(u)
	}
}

// base returns where token 0 of the text would be if all of it were in memory with
// buffer i.
func (t *text) base(i int) cu.DevicePtr {
	b := &t.buffers[i]
	return b.memory - 4*cu.DevicePtr(t.starts[b.first])
}

// sentencesBase is base for the first token of sentence 0, and unitOfBase for its unit.
func (t *text) sentencesBase(i int) cu.DevicePtr {
	b := &t.buffers[i]
	return b.sentences - 8*cu.DevicePtr(t.units[b.first])
}

func (t *text) unitOfBase(i int) cu.DevicePtr {
	b := &t.buffers[i]
	return b.unitOf - 4*cu.DevicePtr(t.units[b.first])
}
