package sentence

import (
	"math/rand/v2"
	"testing"
)

// Sizes.Bytes is the memory of what a device holds, counted one by one, and at most a little more before sentences are cut: for
// every number of tokens, of texts whose short sentences lie together.
func TestSizes(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		c := Options{Sentences: []int{0}, Units: []int{0}, Piece: r.IntN(3) * (1 + r.IntN(7))}
		for s, n := 0, 1+r.IntN(30); s < n; s++ {
			length := 1 + r.IntN(3)
			if s > n/2 {
				length = 1 + r.IntN(40)
			}
			c.Tokens = append(c.Tokens, make([]uint32, length)...)
			c.Sentences = append(c.Sentences, len(c.Tokens))
			if s+1 < n && r.IntN(2) == 0 {
				c.Units = append(c.Units, s+1)
			}
		}
		c.Units = append(c.Units, len(c.Sentences)-1)
		sizes := c.Sizes()
		least := 2 * sizes.LongestUnit()
		for c.TextTokens = range len(c.Tokens) + 2 {
			if c.TextTokens > 0 && c.TextTokens < least {
				continue
			}
			want, most := countedText(&c)
			if got := sizes.Bytes(c.TextTokens); got < want || got > most {
				t.Fatalf("seed %d: %d tokens of %v in units %v, cut into %d: %d bytes, want %d to %d", seed, c.TextTokens, c.Sentences, c.Units, c.Piece, got, want, most)
			}
		}
	}
}

// countedText returns the memory of a text, and the most that may be planned for it: one sentence more for every Piece tokens.
func countedText(c *Options) (bytes, most int64) {
	pieces := func(from, to int) (exact, bound int) { // of sentences
		for s := from; s < to; s++ {
			length := c.Sentences[s+1] - c.Sentences[s]
			if exact++; c.Piece > 0 {
				exact += (length - 1) / c.Piece
			}
		}
		if bound = exact; c.Piece > 0 {
			bound = to - from + (c.Sentences[to]-c.Sentences[from])/c.Piece
		}
		return exact, bound
	}
	of := func(tokens, sentences int) int64 { return int64(4*tokens + 8*(sentences+1) + 4*sentences) }
	all, allBound := pieces(0, len(c.Sentences)-1)
	if c.Piece > 0 {
		bytes, most = 8*int64(all), 8*int64(allBound)
	}
	if c.TextTokens == 0 || c.TextTokens >= len(c.Tokens) {
		return bytes + of(len(c.Tokens), all), most + of(len(c.Tokens), allBound)
	}
	tokens, exact, bound := c.TextTokens/2, 0, 0
	for u := range len(c.Units) - 1 {
		for end := u + 1; end < len(c.Units); end++ {
			first, last := c.Units[u], c.Units[end]
			if c.Sentences[last]-c.Sentences[first] <= tokens {
				e, b := pieces(first, last)
				exact, bound = max(exact, e), max(bound, b)
			}
		}
	}
	if c.Piece > 0 {
		bound += tokens / c.Piece // the units with the most sentences need not be those with the most tokens
	}
	return bytes + 2*of(tokens, exact), most + 2*of(tokens, bound)
}

// A countingText counts how often somebody looks up a sentence.
type countingText struct {
	Text
	lookups *int
}

func (t countingText) Start(sentence int) int {
	*t.lookups++
	return t.Text.Start(sentence)
}

// However many sizes of buffers are tried, every unit is looked up once.
func TestSizesLookUpOnce(t *testing.T) {
	lookups := 0
	c := Options{Text: countingText{memoryText{make([]uint32, 60), []int{0, 10, 15, 30, 31, 60}}, &lookups}, Units: []int{0, 2, 3, 5}}
	sizes := c.Sizes()
	for tokens := range 60 {
		sizes.Bytes(max(tokens, 2*sizes.LongestUnit()))
	}
	if lookups != len(c.Units) {
		t.Errorf("%d sentences were looked up, want %d, the bounds of the units", lookups, len(c.Units))
	}
}
