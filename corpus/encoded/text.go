// Package encoded holds a text as word ids behind one accessor: in memory, in a mapped file, or computed
// when it is read. Start at [Text]; file.go says how the file is laid out, computed.go what can be computed.
package encoded

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"sort"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Text is N word ids in S sentences that follow one another. It never changes; any
// number of goroutines may read it. A Text of a file is valid until the [File] is
// closed.
type Text struct {
	tokens, sentences int // N, S

	// In memory.
	wide   []uint32
	bounds []int

	// In a file: ids of 2, 3 or 4 bytes (then in wide), and where sentences start.
	// Sentence s starts at token bases[s/perBase] + offsets[s].
	narrow  []uint16
	packed  []byte // 3 bytes an id, lowest first
	bases   []uint64
	offsets []uint32
	release func([]byte) // gives memory back; nil: the text is in memory
	ids     io.ReaderAt  // the ids once more, as bytes of the file that starts with them; nil: only mapped

	computed *Computed // nil: the text is stored. Bounds that are not even are bases and offsets
}

// perBase is the number of sentences that share a base. Offsets take 4 bytes: sentences
// of a million words would still fit.
const perBase = 1 << 12

// New returns the text of tokens in memory, with the bounds of S sentences, S+1 of them:
// sentence s is tokens[bounds[s]:bounds[s+1]]. It keeps both.
func New(tokens []uint32, bounds []int) *Text {
	return &Text{tokens: len(tokens), sentences: max(len(bounds)-1, 0), wide: tokens, bounds: bounds}
}

// Tokens returns N.
func (t *Text) Tokens() int { return t.tokens }

// Sentences returns S.
func (t *Text) Sentences() int { return t.sentences }

// InFile reports whether the text is in a file, and so takes memory only while it is
// read.
func (t *Text) InFile() bool { return t.release != nil }

// Bytes returns the memory of the text: of a file, about what so many readers have at a time, half of
// each of their two windows.
func (t *Text) Bytes(readers int) int64 {
	switch {
	case t.InFile():
		return int64(readers) * windowBytes
	case t.computed != nil:
		return t.computed.Bytes + 4*int64(len(t.offsets)+readers*t.computed.Ahead*t.computed.Longest)
	}
	return t.BytesInMemory()
}

// BytesInMemory is the memory of the text where it is in no file.
func (t *Text) BytesInMemory() int64 { return 4*int64(t.tokens) + 8*int64(t.sentences+1) }

// Start returns the number of the first token of sentence s; Start(S) is N.
func (t *Text) Start(s int) int {
	if t.bounds != nil {
		return t.bounds[s]
	}
	if t.offsets == nil {
		return s * t.computed.Longest
	}
	return int(t.bases[s/perBase]) + int(t.offsets[s])
}

// Find returns the number of the first sentence that starts at a token or behind it; S if
// there is none. A file's memory is given back.
func (t *Text) Find(token int) int {
	sentence, _ := t.FindStart(token)
	return sentence
}

// Containing sets sentences[i] to the number of the sentence that the first token of block i is in; block b starts at token
// b·tokens. A file's memory stays until GiveBack. In memory the blocks are searched for side by side, since each step of a search
// may wait for memory.
func (t *Text) Containing(blocks []uint32, tokens int, sentences []uint32) {
	if t.bounds == nil {
		for i, block := range blocks {
			token := int(block)*tokens + 1
			first, end := t.near(token)
			sentences[i] = uint32(t.search(token, first, end) - 1)
		}
		return
	}
	sentences = sentences[:len(blocks)]
	clear(sentences)
	for step := 1 << bits.Len(uint(t.sentences)) / 2; step > 0; step /= 2 {
		for i, block := range blocks {
			at := int(sentences[i])
			before := t.bounds[min(at+step, t.sentences)] - int(block)*tokens - 1 // negative: so is the answer's start
			sentences[i] = uint32(at + step&(before>>63))                         // no branch: nobody could predict it
		}
	}
}

// FindStart is Find and Start of the sentence.
func (t *Text) FindStart(token int) (sentence, start int) {
	first, end := t.near(token)
	if t.InFile() {
		const around = mappedTogether / 4 // of offsets
		defer func() { t.release(memory.BytesOf(t.offsets[max(first-around, 0):min(end+around, len(t.offsets))])) }()
	}
	sentence = t.search(token, first, end)
	return sentence, t.Start(sentence)
}

// near returns sentences among which, or behind which, the first is that starts at a token or behind it. In a file they are those
// behind the last base that is smaller: the bases are few.
func (t *Text) near(token int) (first, end int) {
	if !t.InFile() {
		return 0, t.sentences
	}
	base := sort.Search(len(t.bases), func(b int) bool { return int(t.bases[b]) >= token })
	return perBase * max(base-1, 0), min(perBase*base, t.sentences)
}

func (t *Text) search(token, first, end int) (sentence int) {
	return first + sort.Search(end-first, func(i int) bool { return t.Start(first+i) >= token })
}

// GiveBack gives the memory of a file back, whoever had read it. It reads as before.
func (t *Text) GiveBack() {
	if t.InFile() {
		for _, array := range [][]byte{memory.BytesOf(t.narrow), t.packed, memory.BytesOf(t.wide), memory.BytesOf(t.offsets)} {
			t.release(array)
		}
	}
}

// LongestSentence returns the tokens of the longest sentence.
func (t *Text) LongestSentence() int {
	if t.computed != nil {
		return t.computed.Longest
	}
	longest, last := 0, 0
	t.EachStart(func(starts []int) {
		for _, start := range starts {
			longest, last = max(longest, start-last), start
		}
	})
	return longest
}

// View returns the tokens first ... end-1. A text in memory is not copied; otherwise they
// are decoded into the buffer, which grows if need be. They are valid until the buffer is
// used again. Do not change them.
func (t *Text) View(first, end int, buffer *[]uint32) []uint32 {
	if t.wide != nil {
		return t.wide[first:end]
	}
	if t.computed != nil {
		return t.compute(first, end, buffer)
	}
	return t.decode(first, end, buffer)
}

// Touch has some blocks of a text in memory, of so many tokens each, come into the caches side by side. Then the tokens of each are
// soon there when it is read. What it returns means nothing.
func (t *Text) Touch(blocks []uint32, tokens int) (sum uint32) {
	const line = 16 // tokens of a cache line
	if t.wide == nil || t.InFile() {
		return 0
	}
	for _, block := range blocks {
		first := int(block) * tokens
		for i := first; i < min(first+tokens, len(t.wide)); i += line {
			sum += t.wide[i]
		}
	}
	return sum
}

// Section is ReadAhead for a reader that jumps about. It reads the bytes of a file without the mapping, which would bring up to
// mappedTogether into memory for every jump, and takes five times as long once that memory has to be given back.
func (t *Text) Section(first, end int, a *Ahead) []uint32 {
	if t.ids == nil {
		return t.ReadAhead(first, end, a)
	}
	a.buffer = memory.Resize(a.buffer, end-first)
	to, width := a.buffer, t.width()
	// The bytes come to the end of the buffer. No id is written over bytes that are still to be decoded.
	from := memory.BytesOf(to)[(4-width)*len(to):]
	if _, err := t.ids.ReadAt(from, int64(width)*int64(first)); err != nil {
		return t.View(first, end, &a.buffer) // which ends the program as every page that cannot be read does
	}
	widen(to, from, width)
	return to
}

func (t *Text) decode(first, end int, buffer *[]uint32) []uint32 {
	*buffer = memory.Resize(*buffer, end-first)
	if t.narrow != nil {
		widen(*buffer, memory.BytesOf(t.narrow[first:end]), 2)
	} else {
		widen(*buffer, t.packed[3*first:3*end], 3)
	}
	return *buffer
}

// widen decodes ids of so many bytes each. The bytes may be the last ones of the array that they are decoded to.
func widen(to []uint32, from []byte, width int) {
	switch width {
	case 2:
		for i := range to {
			to[i] = uint32(from[2*i]) | uint32(from[2*i+1])<<8
		}
	case 3:
		for i := range to {
			to[i] = uint32(from[3*i]) | uint32(from[3*i+1])<<8 | uint32(from[3*i+2])<<16
		}
	}
}

// Copy decodes the tokens from first on, as many as fit, and gives a file's memory back
// behind them.
func (t *Text) Copy(to []uint32, first int) {
	switch {
	case t.wide != nil:
		copy(to, t.wide[first:])
	case t.computed != nil:
		t.Blocks(first, first+len(to), func(at int, ids []uint32) bool {
			copy(to[at-first:], ids)
			return true
		})
	default:
		t.decode(first, first+len(to), &to)
	}
	w := t.Window()
	w.Tokens(first, first+len(to))
	w.Close()
}

// EachStart calls each with the starts of sentences 0 ... S, some at a time. They are
// valid until it returns.
func (t *Text) EachStart(each func(starts []int)) {
	if t.bounds != nil {
		each(t.bounds)
		return
	}
	var buffer [perBase]int
	w := t.Window()
	for s := 0; s <= t.sentences; s += perBase {
		n := min(perBase, t.sentences+1-s)
		for i := range n {
			buffer[i] = t.Start(s + i)
		}
		each(buffer[:n])
		w.sizes.read(t, 4*s, 4*(s+n))
	}
	w.Close()
}

// Largest returns the largest id.
func (t *Text) Largest() uint32 {
	var largest uint32
	t.Blocks(0, t.tokens, func(_ int, ids []uint32) bool {
		largest = max(largest, slices.Max(ids))
		return true
	})
	return largest
}

// blockTokens are as many as Blocks hands out at a time.
const blockTokens = 1 << 16

// Blocks calls each with the tokens first ... end-1, a block at a time, and with the number
// of the block's first token, until it returns false. A file's memory is given back behind it.
func (t *Text) Blocks(first, end int, each func(first int, ids []uint32) bool) {
	var buffer []uint32
	w := t.Window()
	for ; first < end; first += blockTokens {
		last := min(first+blockTokens, end)
		if !each(first, t.View(first, last, &buffer)) {
			break
		}
		w.Tokens(first, last)
	}
	w.Close()
}

// Check returns an error if the text has no sentence, if the bounds of sentences do not
// rise from 0 to the number of tokens, or if an id is not below words. Those of a file
// were checked when it was opened, and a computation is trusted.
func (t *Text) Check(words int) error {
	if t.tokens == 0 || t.sentences == 0 {
		return fmt.Errorf("the corpus has no sentence to train on")
	}
	if err := t.CheckBounds(); err != nil || t.InFile() || t.computed != nil {
		return err
	}
	if largest := t.Largest(); int(largest) >= words {
		return fmt.Errorf("the corpus holds word number %d, but the vocabulary has %d words", largest, words)
	}
	return nil
}

// CheckBounds is the part of Check about bounds.
func (t *Text) CheckBounds() error {
	if t.InFile() || t.computed != nil {
		return nil
	}
	if t.sentences == 0 || t.bounds[0] != 0 || t.bounds[t.sentences] != t.tokens {
		return fmt.Errorf("the sentence bounds do not span the %d tokens of the corpus", t.tokens)
	}
	for s, from := range t.bounds[:t.sentences] {
		if from > t.bounds[s+1] {
			return fmt.Errorf("sentence %d of the corpus ends before it starts", s)
		}
	}
	return nil
}
