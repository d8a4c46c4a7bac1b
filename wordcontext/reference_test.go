package wordcontext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// reference lists every row's contexts in the order of the text, pass after
// pass: the definition of M before discarding and shuffling.
func reference(c *corpus.Corpus, o Options) (rows [][]uint32) {
	rows = make([][]uint32, c.Vocabulary.Len())
	thresholds := corpus.KeepThresholds(c.Vocabulary.Counts, o.Sample)
	for pass := range uint32(o.Passes) {
		for s := range len(c.Sentences) - 1 {
			var words, sizes []uint32
			for i := c.Sentences[s]; i < c.Sentences[s+1]; i++ {
				counter, lane := uint64(i/4), i%4
				if corpus.Philox(o.Seed, corpus.StreamSubsample.Sub(pass), counter)[lane] > thresholds[c.Tokens[i]] {
					continue
				}
				size := uint32(o.Window)
				if o.DynamicWindow {
					size = 1 + corpus.Below(corpus.Philox(o.Seed, corpus.StreamWindow.Sub(pass), counter)[lane], size)
				}
				words, sizes = append(words, c.Tokens[i]), append(sizes, size)
			}
			for t, word := range words {
				for u, context := range words {
					if u != t && max(t-u, u-t) <= int(sizes[t]) {
						rows[word] = append(rows[word], context)
					}
				}
			}
		}
	}
	return rows
}

// referenceRow returns the contexts that the matrix stores of a row.
func referenceRow(contexts []uint32, length int, o Options, row int) []uint32 {
	kept := contexts
	if n := len(contexts); n > length {
		chosen := make([]uint64, (n+63)/64)
		choose(chosen, uint64(n), length, o.Seed, uint32(row))
		kept = nil
		for k, context := range contexts {
			if chosen[k/64]>>(k%64)&1 != 0 {
				kept = append(kept, context)
			}
		}
	}
	kept = slices.Clone(kept)
	if !o.InOrder {
		shuffle(kept, o.Seed, uint32(row))
	}
	return kept
}

func sorted(s []uint32) []uint32 {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

// testCorpus makes a corpus of words 0 ... words-1, low ids more frequent, in
// sentences of 1 to longest tokens. Every word occurs.
func testCorpus(seed uint64, words, tokens, longest int) *corpus.Corpus {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := &corpus.Corpus{Sentences: []int{0}}
	counts := make([]uint64, words)
	for i := range max(tokens, words) {
		word := i
		if i >= words {
			word = int(float64(words) * rng.Float64() * rng.Float64() * rng.Float64())
		}
		c.Tokens = append(c.Tokens, uint32(word))
		counts[word]++
	}
	rng.Shuffle(len(c.Tokens), func(i, j int) { c.Tokens[i], c.Tokens[j] = c.Tokens[j], c.Tokens[i] })
	for at := 0; at < len(c.Tokens); {
		at = min(at+1+rng.IntN(longest), len(c.Tokens))
		c.Sentences = append(c.Sentences, at)
	}
	c.Vocabulary = testVocabulary(counts)
	return c
}

func testVocabulary(counts []uint64) *corpus.Vocabulary {
	names := make([]string, len(counts))
	for i := range names {
		names[i] = fmt.Sprintf("w%d", i)
	}
	v, err := corpus.NewVocabulary(names, counts)
	if err != nil {
		panic(err)
	}
	return v
}

// sentencesCorpus makes a corpus of the given sentences of word ids.
func sentencesCorpus(words int, sentences ...[]uint32) *corpus.Corpus {
	c := &corpus.Corpus{Sentences: []int{0}}
	counts := make([]uint64, words)
	for _, s := range sentences {
		for _, word := range s {
			counts[word]++
		}
		c.Tokens = append(c.Tokens, s...)
		c.Sentences = append(c.Sentences, len(c.Tokens))
	}
	c.Vocabulary = testVocabulary(counts)
	return c
}

// buildSpans is Build with the text cut into the given number of spans, however
// short it is.
func buildSpans(t testing.TB, c *corpus.Corpus, o Options, spans int) *Matrix {
	t.Helper()
	b := newBuilder(c, o, math.MaxInt64)
	b.spans = b.scan.split(spans)
	if err := b.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b.matrix
}

func build(t testing.TB, c *corpus.Corpus, o Options) *Matrix {
	t.Helper()
	m, err := Build(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
