package sentence

import "sort"

// held is the text that a device has at a time: all of it in one buffer, or whole units in two, of which one is filled while
// the other is trained on. Each buffer has room for so many tokens and sentences.
type held struct{ buffers, tokens, sentences int }

// Bytes of a sentence in a buffer: its first token and its unit, and of all pieces what is around them.
const (
	startBytes  = 8
	unitBytes   = 4
	aroundBytes = 8
)

// TextBytes returns the device memory of the text: what New takes for TextTokens of it. If Piece is set, it is at
// most so much, because how many pieces there are is known only when all sentences were cut.
func (c *Options) TextBytes() int64 {
	h := c.held()
	bytes := int64(h.buffers) * (4*int64(h.tokens) + int64(startBytes*(h.sentences+1)+unitBytes*h.sentences))
	if text := c.text(); c.Piece > 0 {
		bytes += aroundBytes * int64(c.pieces(text.Sentences(), text.Tokens()))
	}
	return bytes
}

// LongestUnit returns the tokens of the longest unit.
func (c *Options) LongestUnit() (longest int) {
	starts := c.unitStarts()
	for u := range len(starts) - 1 {
		longest = max(longest, starts[u+1]-starts[u])
	}
	return longest
}

// unitStarts returns the first token of each unit of an epoch, and the end.
func (c *Options) unitStarts() (starts []int) {
	text := c.text()
	for _, sentence := range c.Units {
		starts = append(starts, text.Start(sentence))
	}
	return starts
}

// pieces returns how many sentences are trained in place of so many with so many tokens: at most so many if they are still to be cut.
func (c *Options) pieces(sentences, tokens int) int {
	if c.Piece == 0 || c.cut {
		return sentences
	}
	return sentences + tokens/c.Piece
}

func (c *Options) held() held {
	text := c.text()
	if c.TextTokens == 0 || c.TextTokens >= text.Tokens() {
		return held{1, text.Tokens(), c.pieces(text.Sentences(), text.Tokens())}
	}
	h, starts := held{buffers: 2, tokens: c.TextTokens / 2}, c.unitStarts()
	for u := range len(c.Units) - 1 {
		h.sentences = max(h.sentences, c.Units[fitting(starts, u, h.tokens)]-c.Units[u])
	}
	h.sentences = c.pieces(h.sentences, h.tokens)
	return h
}

// fitting returns the end of the units from u on that a buffer of so many tokens holds: one at least.
func fitting(starts []int, u, tokens int) (end int) {
	first := u + 2 // the least end that may be too far
	return u + 1 + sort.Search(max(len(starts)-first, 0), func(i int) bool { return starts[first+i]-starts[u] > tokens })
}
