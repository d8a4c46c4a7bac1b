package wordcontext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

func stretchesOf(t testing.TB, c *corpus.Corpus, o StretchOptions) *Stretches {
	t.Helper()
	s, err := NewStretches(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomStretches returns stretches of a random text, with a line length and a size of their own.
func randomStretches(t testing.TB, r *rand.Rand) *Stretches {
	t.Helper()
	c, _ := corpustest.Read(t, corpustest.Zipf(r.Uint64(), 1+r.IntN(20_000), 2+r.IntN(300), 1+r.IntN(50)))
	o := StretchOptions{Words: 1 + r.IntN(3000), Window: 1 + r.IntN(6), Dynamic: r.IntN(2) == 0, Shared: 1 + r.IntN(70), Seed: r.Uint64()}
	if r.IntN(2) == 0 {
		o.Sample = .01
	}
	return stretchesOf(t, c, o)
}

// reach returns how far a place in a window is from its centre at most.
func (x *Stretch) reach() (widest int) {
	for p := range x.Words {
		widest = max(widest, p-int(x.From[p]), int(x.To[p])-1-p)
	}
	return widest
}

// A stretch says the same in all its parts, whatever the text.
func TestStretch(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		s := randomStretches(t, r)
		reader, x := s.Reader(), &Stretch{}
		for _, iteration := range []int{0, 1, r.IntN(1000)} {
			reader.Read(iteration, x)
			checkStretch(t, seed, s, x)
		}
	}
}

func checkStretch(t *testing.T, seed uint64, s *Stretches, x *Stretch) {
	t.Helper()
	places := len(x.Words)
	if len(x.From) != places || len(x.To) != places || len(x.Places) != places || places > s.Capacity() || len(x.Slots) != len(x.Rows)+1 {
		t.Fatalf("seed %d: %d places, %d and %d bounds, %d sorted, %d rows, %d slots", seed, places, len(x.From), len(x.To), len(x.Places), len(x.Rows), len(x.Slots))
	}
	if x.reach() > s.options.Window || !slices.IsSorted(x.From) && !s.options.Dynamic {
		t.Fatalf("seed %d: windows reach %d places", seed, x.reach())
	}
	for p := range places {
		from, to := int(x.From[p]), int(x.To[p])
		if from > p || to <= p || to > places || to-from < 2 {
			t.Fatalf("seed %d: window of place %d is %d ... %d", seed, p, from, to)
		}
		if from < p && int(x.To[p-1]) <= p || to > p+1 && int(x.From[p+1]) > p {
			t.Fatalf("seed %d: place %d is not in the windows of its neighbours", seed, p)
		}
	}
	if !slices.IsSorted(x.Rows) {
		t.Errorf("seed %d: rows are not in order", seed)
	}
	seen := 0
	for a, word := range x.Rows {
		list := x.Places[x.Slots[a]:x.Slots[a+1]]
		if len(list) == 0 || !slices.IsSorted(list) {
			t.Fatalf("seed %d: word %d has the places %v", seed, word, list)
		}
		for _, p := range list {
			if x.Words[p] != word {
				t.Fatalf("seed %d: place %d is of word %d, not %d", seed, p, x.Words[p], word)
			}
			seen++
		}
	}
	if seen != places {
		t.Errorf("seed %d: %d of %d places are listed", seed, seen, places)
	}
	if places == 0 {
		return
	}
	if len(x.NegativePlaces) != s.options.Shared || len(x.NegativeWords) != s.options.Shared {
		t.Fatalf("seed %d: %d windows, %d targets", seed, len(x.NegativePlaces), len(x.NegativeWords))
	}
	for k, p := range x.NegativePlaces {
		if first, end := k*places/s.options.Shared, ((k+1)*places+s.options.Shared-1)/s.options.Shared; int(p) < first || int(p) >= max(end, first+1) {
			t.Errorf("seed %d: negative window %d is that of place %d of %d", seed, k, p, places)
		}
	}
}

// Over many iterations, negatives come from all places of their parts alike.
func TestNegativesAreUniform(t *testing.T) {
	const shared, each = 5, 40
	s := randomStretches(t, rand.New(rand.NewPCG(rand.Uint64(), 1)))
	s.options.Shared = shared
	reader := s.Reader()
	var counts [2][shared * each]int
	for iteration := range 4000 {
		for step := range counts {
			for _, place := range reader.drawPlaces(nil, iteration, step, shared*each) {
				counts[step][place]++
			}
		}
	}
	for step := range counts {
		checkCounts(t, fmt.Sprint("step ", step), counts[step][:])
	}
}

// A pass has every token once, block by block, and the next pass has another order. Sentences and blocks end windows.
func TestStretchesArePasses(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	c, _ := corpustest.Read(t, corpustest.Zipf(seed, 30_000, 200, 2+r.IntN(200)))
	s := stretchesOf(t, c, StretchOptions{Words: 500, Window: 3, Shared: 5, Seed: seed})
	var orders [2][]string
	for pass := range orders {
		orders[pass] = readPass(s.Reader(), pass)
		got := slices.Sorted(slices.Values(orders[pass]))
		if want := slices.Sorted(slices.Values(plainBlocks(s))); !slices.Equal(got, want) {
			t.Errorf("seed %d, pass %d: other blocks than those of the text", seed, pass)
		}
	}
	if slices.Equal(orders[0], orders[1]) {
		t.Errorf("seed %d: both passes have one order", seed)
	}
}

// readPass returns the words of all blocks of a pass, with a bar where windows end.
func readPass(r *StretchReader, pass int) (blocks []string) {
	for b := range r.blocks {
		x := &Stretch{}
		r.readBlocks(pass, b, 1, x)
		r.sortPlaces(x)
		text := ""
		for p, word := range x.Words {
			if p > 0 && int(x.From[p]) == p {
				text += "|"
			}
			text += fmt.Sprint(" ", word)
		}
		blocks = append(blocks, text)
	}
	return blocks
}

// plainBlocks is readPass from the text, in its order.
func plainBlocks(s *Stretches) (blocks []string) {
	for first := 0; first < s.text.Tokens(); first += s.blockTokens {
		end, text := min(first+s.blockTokens, s.text.Tokens()), ""
		for i := range s.text.Sentences() {
			from, to := max(s.text.Start(i), first), min(s.text.Start(i+1), end)
			if to-from < 2 {
				continue
			}
			if text != "" {
				text += "|"
			}
			var memory []uint32
			for _, word := range s.text.View(from, to, &memory) {
				text += fmt.Sprint(" ", word)
			}
		}
		blocks = append(blocks, text)
	}
	return blocks
}

// Stretches have about T words, and each word as often as subsampling leaves it.
func TestStretchesSize(t *testing.T) {
	seed := rand.Uint64()
	c, _ := corpustest.Read(t, corpustest.Zipf(seed, 100_000, 500, 40))
	const size, count = 5000, 60
	s := stretchesOf(t, c, StretchOptions{Words: size, Window: 2, Sample: 1e-3, Shared: 1, Seed: seed})
	reader, x := s.Reader(), &Stretch{}
	words, tokens, first := 0, 0, 0
	for i := range count {
		reader.Read(i, x)
		words, tokens = words+len(x.Words), tokens+x.Tokens
		for _, w := range x.Words {
			if w == 0 {
				first++
			}
		}
	}
	if mean := float64(words) / count; math.Abs(mean-size) > .1*size {
		t.Errorf("seed %d: %v words on average, want about %d", seed, mean, size)
	}
	if mean := float64(tokens) / count; math.Abs(mean-s.Tokens()) > .05*s.Tokens() {
		t.Errorf("seed %d: %v tokens on average, want about %v", seed, mean, s.Tokens())
	}
	counts := c.Vocabulary.Counts
	thresholds := corpus.KeepThresholds(counts, 1e-3)
	want := float64(tokens) * float64(counts[0]) / float64(c.Vocabulary.Total()) * (float64(thresholds[0]) + 1) / (1 << 32)
	if math.Abs(float64(first)-want) > 6*math.Sqrt(want)+.02*want {
		t.Errorf("seed %d: the first word comes %d times, want about %.0f", seed, first, want)
	}
}

// A stretch does not depend on what its reader read before.
func TestStretchFollowsFromItsNumber(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		s := randomStretches(t, r)
		used, fresh := s.Reader(), s.Reader()
		var a, b Stretch
		for range 5 {
			used.Read(r.IntN(100), &a)
		}
		iteration := r.IntN(100)
		used.Read(iteration, &a)
		fresh.Read(iteration, &b)
		if !slices.Equal(a.Words, b.Words) || !slices.Equal(a.Places, b.Places) || !slices.Equal(a.From, b.From) || !slices.Equal(a.NegativePlaces, b.NegativePlaces) || !slices.Equal(a.NegativeWords, b.NegativeWords) {
			t.Errorf("seed %d: stretch %d differs", seed, iteration)
		}
	}
}

func TestStretchErrors(t *testing.T) {
	c, _ := corpustest.Read(t, "a b a b")
	for _, o := range []StretchOptions{{Window: 1, Shared: 1}, {Words: 1, Shared: 1}, {Words: 1, Window: 1}} {
		if _, err := NewStretches(c, o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}
