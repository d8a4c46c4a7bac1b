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

// Sizes are what the memory of a text depends on, looked up once: where a text in a file has its units takes a while to find.
type Sizes struct {
	Tokens    int // of the text
	sentences int
	starts    []int // first token of each unit of an epoch, and the end
	units     []int // first sentence of each, and the end
	piece     int   // tokens of the pieces that sentences are still to be cut into; 0: none
}

// Sizes looks up the sizes of the text.
func (c *Options) Sizes() *Sizes {
	text := c.text()
	s := &Sizes{Tokens: text.Tokens(), sentences: text.Sentences(), units: c.Units}
	if !c.cut {
		s.piece = c.Piece
	}
	for _, sentence := range c.Units {
		s.starts = append(s.starts, text.Start(sentence))
	}
	return s
}

// Bytes returns the device memory of the text: what New takes for so many TextTokens of it. If Piece is set, it is at
// most so much, because how many pieces there are is known only when all sentences were cut.
func (s *Sizes) Bytes(textTokens int) int64 {
	h := s.held(textTokens)
	bytes := int64(h.buffers) * (4*int64(h.tokens) + startBytes*int64(h.sentences+1) + unitBytes*int64(h.sentences))
	if s.piece > 0 {
		bytes += aroundBytes * int64(s.pieces(s.sentences, s.Tokens))
	}
	return bytes
}

// LongestUnit returns the tokens of the longest unit.
func (s *Sizes) LongestUnit() (longest int) {
	for u := range len(s.starts) - 1 {
		longest = max(longest, s.starts[u+1]-s.starts[u])
	}
	return longest
}

// pieces returns how many sentences are trained in place of so many with so many tokens: at most so many if they are still to be cut.
func (s *Sizes) pieces(sentences, tokens int) int {
	if s.piece == 0 {
		return sentences
	}
	return sentences + tokens/s.piece
}

func (s *Sizes) held(textTokens int) held {
	if textTokens == 0 || textTokens >= s.Tokens {
		return held{1, s.Tokens, s.pieces(s.sentences, s.Tokens)}
	}
	h := held{buffers: 2, tokens: textTokens / 2}
	for u := range len(s.units) - 1 {
		h.sentences = max(h.sentences, s.units[fitting(s.starts, u, h.tokens)]-s.units[u])
	}
	h.sentences = s.pieces(h.sentences, h.tokens)
	return h
}

// fitting returns the end of the units from u on that a buffer of so many tokens holds: one at least.
func fitting(starts []int, u, tokens int) (end int) {
	first := u + 2 // the least end that may be too far
	return u + 1 + sort.Search(max(len(starts)-first, 0), func(i int) bool { return starts[first+i]-starts[u] > tokens })
}
