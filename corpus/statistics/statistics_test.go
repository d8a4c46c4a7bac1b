package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// All numbers are those of a plain count with maps.
func TestOf(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		var text strings.Builder
		types := 2 + r.IntN(40)
		for range 1 + r.IntN(200) {
			for range 1 + r.IntN(6) {
				fmt.Fprintf(&text, "w%d ", int(math.Pow(float64(types), r.Float64())))
			}
			text.WriteByte('\n')
		}
		c, err := corpus.ReadFrom(t.Context(), strings.NewReader(text.String()), "text", corpus.Options{MinCount: 1 + r.IntN(2), MaxSentence: 4})
		if err != nil {
			t.Logf("seed %d: %v", seed, err) // no word occurs twice
			continue
		}
		window := 1 + r.IntN(3)
		var reports int
		s, err := Of(t.Context(), c, Options{Window: window, Top: 5, Threads: 1 + r.IntN(3), Progress: func(done, total int64) { reports++ }})
		if err != nil {
			t.Fatal(err)
		}
		pairs, sentences, longest := map[string]uint64{}, map[string]int{}, 0
		for n := range len(c.Sentences) - 1 {
			ids := c.Tokens[c.Sentences[n]:c.Sentences[n+1]]
			longest = max(longest, len(ids))
			var words []string
			for i, a := range ids {
				words = append(words, c.Vocabulary.Words[a])
				for _, b := range ids[i+1 : min(len(ids), i+1+window)] {
					pairs[c.Vocabulary.Words[min(a, b)]+" "+c.Vocabulary.Words[max(a, b)]]++
				}
			}
			sentences[strings.Join(words, " ")]++
		}
		for i, p := range s.Pairs.Top {
			if p.Count != pairs[p.First+" "+p.Second] || i > 0 && p.Count > s.Pairs.Top[i-1].Count {
				t.Errorf("seed %d: pair %+v, want %d", seed, p, pairs[p.First+" "+p.Second])
			}
			delete(pairs, p.First+" "+p.Second)
		}
		for name, n := range pairs {
			if n > s.Pairs.Top[len(s.Pairs.Top)-1].Count || len(s.Pairs.Top) < 5 {
				t.Errorf("seed %d: pair %s occurs %d times and is not listed", seed, name, n)
			}
		}
		copies := 0
		for sentence, n := range sentences {
			copies += n - 1
			at := slices.IndexFunc(s.Duplicates.Most, func(r Repeated) bool { return r.Sentence == sentence })
			if at >= 0 && s.Duplicates.Most[at].Count != n {
				t.Errorf("seed %d: %q occurs %d times, not %d", seed, sentence, n, s.Duplicates.Most[at].Count)
			}
		}
		if got, want := s.Duplicates.Fraction, float64(copies)/float64(len(c.Sentences)-1); math.Abs(got-want) > 1e-12 {
			t.Errorf("seed %d: %v of the sentences are copies, want %v", seed, got, want)
		}
		last := s.Heaps.Growth[len(s.Heaps.Growth)-1]
		if last.Tokens != len(c.Tokens) || last.Words != c.Vocabulary.Len() || s.Lengths.Longest != longest {
			t.Errorf("seed %d: grew to %+v, longest sentence %d", seed, last, s.Lengths.Longest)
		}
		words, tokens := 0, uint64(0)
		for _, b := range s.Spectrum {
			words, tokens = words+b.Words, tokens+b.Tokens
		}
		if words != c.Vocabulary.Len() || tokens != uint64(len(c.Tokens)) || s.MinCounts[0].Words != words || s.MinCounts[0].TokenFraction != 1 {
			t.Errorf("seed %d: spectrum of %d words and %d tokens", seed, words, tokens)
		}
	}
}

// Laws are found again.
func TestPowerLaw(t *testing.T) {
	var points []float64
	for x := 1.0; x < 1e6; x *= 3 {
		points = append(points, x)
	}
	constant, exponent, fit := powerLaw(points, func(x float64) (float64, float64) { return x, 7 * math.Pow(x, 0.6) })
	if math.Abs(constant-7) > 1e-9 || math.Abs(exponent-0.6) > 1e-9 || math.Abs(fit-1) > 1e-9 {
		t.Errorf("%v · x^%v, R² %v", constant, exponent, fit)
	}
	if constant, exponent, _ := powerLaw(points[:1], func(x float64) (float64, float64) { return x, 7 }); math.Abs(constant-7) > 1e-9 || exponent != 0 {
		t.Errorf("one point: %v · x^%v", constant, exponent)
	}
}
