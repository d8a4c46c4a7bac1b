package encoded

import (
	"context"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// check reads the whole file once: checksums, and whether all numbers are within their
// bounds, for kernels do not look.
func (f *File) check(threads int) error {
	defer func() { memory.Release(f.whole) }() // parts that threads read side by side bring each other's ends back
	_, size, _ := f.parts()
	body := f.whole[headerSize:][:size]
	err := format.Check(f.whole, size, threads, func(first, end int) error {
		err := f.checkIDs(first, end)
		memory.Release(body[first:end])
		return err
	})
	if err != nil {
		return err
	}
	if err := f.checkStarts(threads); err != nil {
		return err
	}
	return f.checkWords()
}

// checkIDs checks the ids that begin in some bytes of the body.
func (f *File) checkIDs(first, end int) error {
	t, width := &f.text, int(f.header.Width)
	from, to := (first+width-1)/width, min((end+width-1)/width, t.tokens)
	words := uint32(min(f.Words, 1<<32-1))
	if f.Words == 1<<(8*width) { // every number is an id
		return nil
	}
	var buffer []uint32
	for ; from < to; from += blockTokens {
		var largest uint32
		for _, id := range t.View(from, min(from+blockTokens, to), &buffer) {
			largest = max(largest, id)
		}
		if largest >= words {
			return fmt.Errorf("%w: it has word number %d, and %d words", ErrCorrupt, largest, f.Words)
		}
	}
	return nil
}

// checkStarts checks that no sentence is empty and that they span the text.
func (f *File) checkStarts(threads int) error {
	t := &f.text
	if t.Start(0) != 0 || t.Start(t.sentences) != t.tokens {
		return fmt.Errorf("%w: its sentences do not span its %d tokens", ErrCorrupt, t.tokens)
	}
	const each = 16 * perBase
	return parallel.Try(context.Background(), threads, (t.sentences+each-1)/each, func(_, task int) error {
		first, end := task*each, min((task+1)*each, t.sentences)
		last := t.Start(first)
		for s := first + 1; s <= end; s++ {
			start := t.Start(s)
			if start <= last || start > t.tokens || s%perBase == 0 && t.offsets[s] != 0 {
				return fmt.Errorf("%w: sentence %d does not end behind its start", ErrCorrupt, s-1)
			}
			last = start
		}
		memory.Release(memory.BytesOf(t.offsets[first:end]))
		return nil
	})
}

// checkWords checks that the lengths fit the words.
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
