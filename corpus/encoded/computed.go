package encoded

import (
	"sort"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Computed is a text that is not stored: its sentences are computed whenever they are read.
type Computed struct {
	Sentences int // S
	Longest   int // tokens of every sentence or, if Lengths is not nil, of the longest
	Lengths   []uint32

	// Fill computes the sentences first ... end-1 into to, one behind the other. Several goroutines
	// may call it. Ahead is how many it computes together best, at least 1.
	Fill  func(first, end int, to []uint32)
	Ahead int

	Bytes int64 // of memory, of all that Fill needs

	Source any // what the text is, for those who compute it elsewhere
}

// NewComputed returns the text. It keeps c and changes Lengths.
func NewComputed(c *Computed) *Text {
	t := &Text{sentences: c.Sentences, tokens: c.Sentences * c.Longest, computed: c}
	if c.Lengths == nil {
		return t
	}
	start := uint64(0)
	t.offsets = append(c.Lengths, 0) //nolint:gocritic // it is kept
	for s, length := range t.offsets {
		if s%perBase == 0 {
			t.bases = append(t.bases, start)
		}
		t.offsets[s] = uint32(start - t.bases[s/perBase])
		start += uint64(length)
	}
	c.Lengths, t.tokens = nil, int(start)
	return t
}

// Computed reports whether the text is computed when it is read.
func (t *Text) Computed() bool { return t.computed != nil }

// Source returns the Source of a computed text; otherwise nil.
func (t *Text) Source() any {
	if t.computed == nil {
		return nil
	}
	return t.computed.Source
}

func (t *Text) sentenceOf(token int) int {
	if t.offsets == nil {
		return token / t.computed.Longest
	}
	base := sort.Search(len(t.bases), func(b int) bool { return int(t.bases[b]) > token }) - 1
	first := perBase * base
	return first + sort.Search(min(perBase, t.sentences-first), func(i int) bool { return t.Start(first+i+1) > token })
}

// compute computes the tokens first ... end-1, and the rest of the first and of the last of their sentences.
func (t *Text) compute(first, end int, buffer *[]uint32) []uint32 {
	if first == end {
		return nil
	}
	from, to := t.sentenceOf(first), t.sentenceOf(end-1)+1
	start := t.Start(from)
	*buffer = memory.Resize(*buffer, t.Start(to)-start)
	t.computed.Fill(from, to, *buffer)
	return (*buffer)[first-start : end-start]
}

// ReadAhead is View for a reader that mostly goes on where it was. Of a computed text it computes some sentences
// together, as soon as one reader has asked for a second in a row, and remembers them.
func (t *Text) ReadAhead(first, end int, a *Ahead) []uint32 {
	if t.computed == nil {
		return t.View(first, end, &a.buffer)
	}
	if first < a.first || end > a.end {
		last := end
		if first == a.end && first < end {
			last = max(end, t.Start(min(t.sentenceOf(first)+t.computed.Ahead, t.sentences)))
		}
		a.tokens = t.compute(first, last, &a.buffer)
		a.first, a.end = first, last
	}
	return a.tokens[first-a.first : end-a.first]
}

// Ahead holds the tokens that a reader computed before it asked for them.
type Ahead struct {
	buffer, tokens []uint32
	first, end     int // of the tokens
}
