package sentence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// sharedText is a text of random sentences, in units of a few of them.
func sharedText(r *rand.Rand, sentences int) Options {
	c := Options{Sentences: []int{0}, Units: []int{0}}
	for range sentences {
		for range 1 + r.IntN(9) {
			c.Tokens = append(c.Tokens, r.Uint32())
		}
		c.Sentences = append(c.Sentences, len(c.Tokens))
	}
	for last := 0; last < sentences; {
		last = min(last+1+r.IntN(5), sentences)
		c.Units = append(c.Units, last)
	}
	return c
}

// Every sentence is in one part, at its place, and the parts go through as many units.
func TestShards(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, devices := range []int{1, 2, 4, 8} {
		for _, sentences := range []int{devices, devices + 1, 50, 400} {
			c := sharedText(r, sentences)
			c.Walks = &Walks{First: 7}
			whole := c.text()
			shards, err := c.Shards(devices)
			if err != nil {
				t.Fatal(err)
			}
			next := 0
			for d, s := range shards {
				p := s.text()
				if len(s.Units) != len(c.Units) || s.Units[0] != 0 || s.Units[len(s.Units)-1] != p.Sentences() || !slices.IsSorted(s.Units) || p.Sentences() < 1 {
					t.Fatalf("%d sentences, part %d of %d: %d sentences in units %v", sentences, d, devices, p.Sentences(), s.Units)
				}
				for i := range p.Sentences() + 1 {
					if p.Start(i) != whole.Start(next+i) {
						t.Fatalf("sentence %d of part %d begins with token %d", i, d, p.Start(i))
					}
				}
				if s.Walks.First != 7+next {
					t.Errorf("part %d begins with walk %d, want %d", d, s.Walks.First, 7+next)
				}
				tokens := make([]uint32, p.Tokens())
				p.Copy(tokens, p.Start(0))
				if !slices.Equal(tokens, c.Tokens[p.Start(0):p.Start(p.Sentences())]) || !slices.Equal(tokens, s.Tokens) {
					t.Errorf("part %d has other tokens", d)
				}
				if most := p.Tokens() - whole.Tokens()/devices; sentences >= 50 && (most > 10 || most < -10) {
					t.Errorf("part %d of %d: %d of %d tokens", d, devices, p.Tokens(), whole.Tokens())
				}
				for u, sentence := range s.Units {
					want := whole.Start(c.Units[u]) / devices
					if got := p.Start(sentence) - p.Start(0); sentences >= 50 && (got > want+20 || got < want-20) {
						t.Errorf("unit %d of part %d begins with its token %d, want about %d", u, d, got, want)
					}
				}
				next += p.Sentences()
			}
			if next != sentences {
				t.Errorf("the parts have %d sentences of %d", next, sentences)
			}
		}
	}
	c := sharedText(r, 3)
	if _, err := c.Shards(4); err == nil {
		t.Error("no error of three sentences for four devices")
	}
}

// All rows are combined at the end of an epoch and every so many words, those of hot words more often.
func TestCombinedAfter(t *testing.T) {
	c := Options{Vocabulary: 100, Tokens: make([]uint32, 100), Sentences: []int{0}, Units: []int{0}, Sync: Sync{Words: 40, HotWords: 15, Hot: 7}}
	for i := range 10 {
		c.Sentences, c.Units = append(c.Sentences, 10*i+10), append(c.Units, i+1)
	}
	var got []int
	for u := range 20 {
		got = append(got, c.CombinedAfter(u))
	}
	epoch := []int{0, 7, 7, 100, 7, 7, 0, 100, 7, 100}
	if want := slices.Concat(epoch, epoch); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	c.Sync.HotWords = 0
	if n := c.CombinedAfter(1); n != 0 {
		t.Errorf("%d words after unit 1, want none", n)
	}
}

// An evenText has sentences of one length, and no tokens.
type evenText struct{ sentences, length int }

func (t evenText) Tokens() int          { return t.sentences * t.length }
func (t evenText) Sentences() int       { return t.sentences }
func (t evenText) Start(s int) int      { return s * t.length }
func (t evenText) Copy([]uint32, int)   {}
func (t evenText) GiveBack()            {}
func (t evenText) LongestSentence() int { return t.length }

// Ten walks of 20 from each of 111 million nodes are a billion sentences, with places far beyond 2^32.
func TestHugeText(t *testing.T) {
	const nodes, walks, length, perUnit = 111_000_000, 10, 20, 1 << 16
	text := evenText{nodes * walks, length}
	c := Options{Text: text, Vocabulary: nodes, Walks: &Walks{}, Sync: Sync{Words: 8 * nodes}}
	for s := 0; s < text.sentences; s += perUnit {
		c.Units = append(c.Units, s)
	}
	c.Units = append(c.Units, text.sentences)
	combinations := 0
	for u := range len(c.Units) - 1 {
		if words := c.CombinedAfter(u); words == nodes {
			combinations++
		} else if words != 0 {
			t.Fatalf("unit %d: %d words are combined", u, words)
		}
	}
	if want := walks * length / 8; combinations != want {
		t.Errorf("%d combinations, want %d", combinations, want)
	}
	if got, want := c.Sizes().Bytes(0), int64(4*text.Tokens()+12*text.sentences+8); got != want {
		t.Errorf("all of it takes %d bytes, want %d", got, want)
	}
	const buffer = 256 << 20                                               // tokens, of both buffers
	inBuffer := buffer/2/(perUnit*length)*perUnit + text.sentences%perUnit // the last unit, which is short, fits behind them
	if got, want := c.Sizes().Bytes(buffer), int64(2*(2*buffer+12*inBuffer+8)); got != want {
		t.Errorf("two buffers take %d bytes, want %d", got, want)
	}
	for _, devices := range []int{2, 8} {
		shards, err := c.Shards(devices)
		if err != nil {
			t.Fatal(err)
		}
		last := shards[devices-1]
		if first := nodes * walks / devices * (devices - 1); last.Walks.First != first || last.Text.Start(0) != first*length || last.Text.Tokens() != nodes/devices*walks*length {
			t.Errorf("the last of %d parts begins with walk %d, place %d, and has %d places", devices, last.Walks.First, last.Text.Start(0), last.Text.Tokens())
		}
		if len(last.Units) != len(c.Units) || last.Units[len(last.Units)-1] != last.Text.Sentences() {
			t.Errorf("the last of %d parts has %d units, the text %d", devices, len(last.Units)-1, len(c.Units)-1)
		}
	}
}
