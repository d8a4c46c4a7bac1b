package encoded

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// packedText makes the text of a file, in memory: ids of so many bytes.
func packedText(tokens []uint32, bounds []int, width int) *Text {
	t := &Text{tokens: len(tokens), sentences: len(bounds) - 1, release: func([]byte) {}}
	var ids []byte
	for _, id := range tokens {
		ids = append(ids, []byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)}[:width]...)
		switch width {
		case 2:
			t.narrow = append(t.narrow, uint16(id))
		case 3:
			t.packed = append(t.packed, byte(id), byte(id>>8), byte(id>>16))
		default:
			t.wide = append(t.wide, id)
		}
	}
	t.ids = bytes.NewReader(ids)
	for s, start := range bounds {
		if s%perBase == 0 {
			t.bases = append(t.bases, uint64(start))
		}
		t.offsets = append(t.offsets, uint32(start)-uint32(t.bases[s/perBase]))
	}
	return t
}

// randomText makes sentences of ids below limit.
func randomText(r *rand.Rand, sentences, limit int) (tokens []uint32, bounds []int) {
	bounds = []int{0}
	for range sentences {
		for range 1 + r.IntN(9) {
			tokens = append(tokens, uint32(r.IntN(limit)))
		}
		bounds = append(bounds, len(tokens))
	}
	return tokens, bounds
}

// A text reads alike in memory and with ids of every width.
func TestTextForms(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, sentences := range []int{1, perBase - 1, perBase, perBase + 1, 1 + r.IntN(4*perBase)} {
		tokens, bounds := randomText(r, sentences, 1<<16)
		whole := New(tokens, bounds)
		for _, width := range []int{2, 3, 4} {
			text := packedText(tokens, bounds, width)
			if text.Tokens() != whole.Tokens() || text.Sentences() != whole.Sentences() || text.width() != width || !text.InFile() {
				t.Fatalf("seed %d, %d bytes: %d tokens, %d sentences", seed, width, text.Tokens(), text.Sentences())
			}
			var starts []int
			text.EachStart(func(some []int) { starts = append(starts, some...) })
			if !slices.Equal(starts, bounds) {
				t.Errorf("seed %d, %d bytes: bounds differ", seed, width)
			}
			var all, buffer []uint32
			var ahead Ahead
			text.Blocks(0, len(tokens), func(first int, ids []uint32) bool {
				if first != len(all) {
					t.Errorf("block %d begins at %d", len(all), first)
				}
				all = append(all, ids...)
				return true
			})
			if !slices.Equal(all, tokens) || text.Largest() != slices.Max(tokens) {
				t.Errorf("seed %d, %d bytes: tokens differ", seed, width)
			}
			for range 100 {
				first := r.IntN(len(tokens))
				end := first + r.IntN(len(tokens)-first+1)
				copied := make([]uint32, end-first)
				text.Copy(copied, first)
				if !slices.Equal(text.Section(first, end, &ahead), tokens[first:end]) || !slices.Equal(whole.Section(first, end, &ahead), tokens[first:end]) {
					t.Fatalf("seed %d, %d bytes: section %d to %d differs", seed, width, first, end)
				}
				if !slices.Equal(text.View(first, end, &buffer), tokens[first:end]) || !slices.Equal(copied, tokens[first:end]) {
					t.Fatalf("seed %d, %d bytes: tokens %d to %d differ", seed, width, first, end)
				}
				token := r.IntN(len(tokens) + 2)
				if want, _ := slices.BinarySearch(bounds[:sentences], token); text.Find(token) != want || whole.Find(token) != want {
					t.Fatalf("seed %d: sentence at token %d is %d or %d, want %d", seed, token, text.Find(token), whole.Find(token), want)
				}
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		tokens []uint32
		bounds []int
		ok     bool
	}{
		"good":        {[]uint32{0, 1, 2}, []int{0, 2, 3}, true},
		"no tokens":   {nil, []int{0}, false},
		"no bounds":   {[]uint32{0}, nil, false},
		"bounds end":  {[]uint32{0, 1}, []int{0, 1}, false},
		"bounds fall": {[]uint32{0, 1}, []int{0, 2, 1, 2}, false},
		"large id":    {[]uint32{0, 3}, []int{0, 2}, false},
	} {
		if err := New(test.tokens, test.bounds).Check(3); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A window gives back all that was read, however the reader goes on; what it keeps is little.
func TestWindow(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	const sentences, length = 20_000, 1000
	text := &Text{tokens: sentences * length, sentences: sentences, narrow: make([]uint16, sentences*length), offsets: make([]uint32, sentences+1)}
	for s := 0; s <= sentences; s += perBase {
		text.bases = append(text.bases, uint64(s*length))
	}
	for s := range text.offsets {
		text.offsets[s] = uint32(s % perBase * length)
	}
	array := memory.BytesOf(text.narrow)
	held := map[int]bool{} // sentences whose tokens were read and not given back
	text.release = func(b []byte) {
		first := cap(array) - cap(b) // of the ids
		if first < 0 || &array[first] != &b[0] {
			return
		}
		for s := range held {
			if first <= 2*length*s && 2*length*(s+1) <= first+len(b) {
				delete(held, s)
			}
		}
	}
	w := text.Window()
	for range 3000 {
		s := r.IntN(sentences) // far away
		for n := r.IntN(8); n >= 0 && s < sentences; n-- {
			end := min(s+1+r.IntN(40), sentences)
			for i := s; i < end; i++ {
				held[i] = true
			}
			w.Sentences(s, end)
			if s = end; r.IntN(10) == 0 { // another thread reads some
				s += r.IntN(windowBytes / 4 / length)
			}
			if len(held)*2*length > 2*windowBytes {
				t.Fatalf("seed %d: %d sentences are held", seed, len(held))
			}
		}
	}
	w.Close()
	if len(held) > 0 {
		t.Errorf("seed %d: %d sentences were not given back", seed, len(held))
	}
}

// Sentences are found alike in memory and in a file, also where they begin with a base.
func TestFind(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, sentences := range []int{1, perBase - 1, perBase, perBase + 1, 2 * perBase, 3*perBase - 1} {
		tokens, bounds := randomText(r, sentences, 9)
		whole, file := New(tokens, bounds), packedText(tokens, bounds, 2)
		longest := 0
		for s := range sentences {
			longest = max(longest, bounds[s+1]-bounds[s])
		}
		if a, b := whole.LongestSentence(), file.LongestSentence(); a != longest || b != longest {
			t.Errorf("seed %d, %d sentences: the longest has %d or %d tokens, want %d", seed, sentences, a, b, longest)
		}
		for token := -1; token <= len(tokens)+1; token++ {
			want, _ := slices.BinarySearch(bounds[:sentences], token)
			for name, text := range map[string]*Text{"memory": whole, "file": file} {
				if sentence, start := text.FindStart(token); sentence != want || start != bounds[want] || text.Find(token) != want {
					t.Fatalf("seed %d, %d sentences, %s: token %d is found in sentence %d at %d, want %d at %d", seed, sentences, name, token, sentence, start, want, bounds[want])
				}
			}
		}
	}
}

// checkContaining looks for the sentences of all blocks of so many tokens.
func checkContaining(t *testing.T, text *Text, tokens int) {
	t.Helper()
	blocks := make([]uint32, (text.Tokens()+tokens-1)/tokens)
	for b := range blocks {
		blocks[b] = uint32(b)
	}
	got := make([]uint32, len(blocks))
	text.Containing(blocks, tokens, got)
	for b, s := range got {
		if token := b * tokens; text.Start(int(s)) > token || text.Start(int(s)+1) <= token {
			t.Fatalf("%d sentences: token %d is not in sentence %d", text.Sentences(), token, s)
		}
	}
}

// TestContaining: the sentences that blocks begin in, of texts in memory and in files.
func TestContaining(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, sentences := range []int{1, 2, 3, 4, 5, 63, 64, 65, 1000} {
		ids, bounds := randomText(r, sentences, 9)
		for _, text := range []*Text{New(ids, bounds), packedText(ids, bounds, 2)} {
			for _, tokens := range []int{1, 2, 7} {
				checkContaining(t, text, tokens)
			}
		}
	}
}
