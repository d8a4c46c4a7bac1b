package encoded

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// check reads the whole file once: checksums, and whether all numbers are within their
// bounds, for kernels do not look.
func (f *File) check(content io.ReaderAt, threads int) error {
	defer func() { memory.Release(f.whole) }() // parts that threads read side by side bring each other's ends back
	_, size, _ := f.parts()
	if err := format.Check(content, size, threads, f.checkIDs); err != nil {
		return err
	}
	if err := f.checkStarts(threads); err != nil {
		return err
	}
	return f.checkWords()
}

// checkIDs checks the ids in a piece of the body.
func (f *File) checkIDs(first int, part []byte) error {
	width := int(f.header.Width)
	part = part[:min(len(part), max(width*f.text.tokens-first, 0))]
	if f.Words == 1<<(8*width) { // every number is an id
		return nil
	}
	var largest uint32
	switch width {
	case 2:
		for _, id := range memory.NumbersOf[uint16](part) {
			largest = max(largest, uint32(id))
		}
	case 3:
		for ; len(part) >= 3; part = part[3:] {
			largest = max(largest, uint32(part[0])|uint32(part[1])<<8|uint32(part[2])<<16)
		}
	default:
		for _, id := range memory.NumbersOf[uint32](part) {
			largest = max(largest, id)
		}
	}
	if uint64(largest) >= f.Words {
		return fmt.Errorf("%w: it has word number %d, but only %d words", ErrCorrupt, largest, f.Words)
	}
	return nil
}

// checkStarts checks that no sentence is empty and that they span the text. Each thread reads
// a stretch of its own and gives its memory back behind it.
func (f *File) checkStarts(threads int) error {
	t := &f.text
	if t.Start(0) != 0 || t.Start(t.sentences) != t.tokens {
		return fmt.Errorf("%w: its sentences do not span its %d tokens", ErrCorrupt, t.tokens)
	}
	stretches := max(threads, 1)
	return parallel.Try(context.Background(), threads, stretches, func(_, k int) error {
		first, end := k*t.sentences/stretches, (k+1)*t.sentences/stretches
		w := t.Window()
		defer w.Close()
		for last := t.Start(first); first < end; first += perBase {
			block := min(first+perBase, end)
			for s := first + 1; s <= block; s++ {
				start := t.Start(s)
				if start <= last || start > t.tokens || s%perBase == 0 && t.offsets[s] != 0 {
					return fmt.Errorf("%w: sentence %d is empty or ends before it starts", ErrCorrupt, s-1)
				}
				last = start
			}
			w.sizes.read(t, 4*first, 4*block)
		}
		return nil
	})
}

func (f *File) checkWords() error {
	sum := uint64(0)
	for id, length := range memory.NumbersOf[uint32](f.lengths)[:f.Words] {
		if length == 0 {
			return fmt.Errorf("%w: word number %d is empty", ErrCorrupt, id)
		}
		sum += uint64(length)
	}
	if sum != f.WordBytes {
		return fmt.Errorf("%w: its words have %d bytes, not %d", ErrCorrupt, sum, f.WordBytes)
	}
	return nil
}

// Reseal sets the checksums of a file's bytes, so that a fuzzer comes past them. It leaves
// bytes that cannot be a file as they are.
func Reseal(data []byte) {
	format.Reseal(data, func() uint64 {
		h, err := decodeHeader(data, uint64(len(data)))
		if err != nil {
			return math.MaxUint64
		}
		_, body, _ := h.parts()
		return body
	})
}
