package corpus

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomCorpus returns a text of sentences of 1 ... 70 tokens, frequent words
// first.
func randomCorpus(t *testing.T, r *rand.Rand, words, sentences int) *Corpus {
	t.Helper()
	c := &Corpus{Sentences: []int{0}}
	counts := make([]uint64, words)
	for range sentences {
		for range 1 + r.IntN(70) {
			w := uint32(float64(words) * r.Float64() * r.Float64() * r.Float64())
			counts[w]++
			c.Tokens = append(c.Tokens, w)
		}
		c.Sentences = append(c.Sentences, len(c.Tokens))
	}
	c.Vocabulary = &Vocabulary{Words: make([]string, words), Counts: counts}
	return c
}

// A SentenceReader makes the choices of its comment token by token, in any order
// of sentences.
func TestSentenceReader(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	c := randomCorpus(t, r, 50, 200)
	for _, o := range []SentenceOptions{
		{Seed: r.Uint64(), Window: 4},
		{Seed: r.Uint64(), Window: 5, Dynamic: true},
		{Seed: r.Uint64(), Window: 3, Sample: 1e-2},
		{Seed: r.Uint64(), Window: 7, Sample: 1e-3, Dynamic: true},
	} {
		reader := NewSentenceReader(c, o).Clone()
		keep := KeepThresholds(c.Vocabulary.Counts, o.Sample)
		dropped := 0
		for _, sentence := range r.Perm(len(c.Sentences) - 1) {
			pass := r.Uint32N(3)
			var wantWords, wantWidths []uint32
			for i := c.Sentences[sentence]; i < c.Sentences[sentence+1]; i++ {
				bits := func(stream Stream) uint32 {
					return Philox(o.Seed, stream.Sub(pass), uint64(i/4))[i%4]
				}
				if bits(StreamSubsample) > keep[c.Tokens[i]] {
					dropped++
					continue
				}
				wantWords = append(wantWords, c.Tokens[i])
				if o.Dynamic {
					wantWidths = append(wantWidths, 1+Below(bits(StreamWindow), uint32(o.Window)))
				}
			}
			words, widths := reader.Sentence(pass, sentence)
			if !slices.Equal(words, wantWords) || !slices.Equal(widths, wantWidths) {
				t.Fatalf("%+v, pass %d, sentence %d: %v %v, want %v %v", o, pass, sentence, words, widths, wantWords, wantWidths)
			}
			if (widths == nil) == o.Dynamic {
				t.Fatalf("%+v: widths %v", o, widths)
			}
		}
		if (dropped > 0) != (o.Sample > 0) {
			t.Errorf("%+v: dropped %d tokens", o, dropped)
		}
	}
}
