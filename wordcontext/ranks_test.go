package wordcontext

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// cutCorpus cuts a text into parts at random sentences; some parts may be empty.
func cutCorpus(rng *rand.Rand, c *corpus.Corpus, parts int) (texts []*corpus.Corpus, firsts []int) {
	cuts := []int{0, len(c.Sentences) - 1}
	for range parts - 1 {
		cuts = append(cuts, rng.IntN(len(c.Sentences)))
	}
	slices.Sort(cuts)
	for k := range parts {
		first, end := c.Sentences[cuts[k]], c.Sentences[cuts[k+1]]
		bounds := slices.Clone(c.Sentences[cuts[k] : cuts[k+1]+1])
		for i := range bounds {
			bounds[i] -= first
		}
		texts = append(texts, &corpus.Corpus{Vocabulary: c.Vocabulary, Tokens: c.Tokens[first:end], Sentences: bounds})
		firsts = append(firsts, first)
	}
	return texts, firsts
}

// TestRanks: M from parts of a text is the M of the whole text, for any number of ranks
// and wherever the text is cut; its parts hold what their rows hold there.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	texts := []struct {
		c *corpus.Corpus
		o Options
	}{
		{sentencesCorpus(1, []uint32{0, 0, 0}), Options{Window: 2, Contexts: 100, Passes: 3}},
		{sentencesCorpus(3, []uint32{0}, []uint32{1, 2, 1}), Options{Window: 1, Contexts: 4, Passes: 1, Positives: 2}},
		{testCorpus(rng.Uint64(), 200, 30000, 50), Options{Window: 5, Contexts: 64, Passes: 1, Sample: 1e-3}},
		{testCorpus(rng.Uint64(), 90, 9000, 50), Options{Window: 3, Contexts: 50, Passes: 3, Tempering: 0.75, Positives: 4, Sample: 1e-2, DynamicWindow: true}},
		{testCorpus(rng.Uint64(), 1<<16+9, 1<<17, 50), Options{Window: 2, Contexts: 70, Passes: 1}},
	}
	if testing.Short() {
		texts = texts[:4] // wide ids are no other exchange
	}
	for n, text := range texts {
		text.o.Seed, text.o.Threads = rng.Uint64(), 3
		whole := build(t, text.c, text.o)
		path := filepath.Join(t.TempDir(), "whole")
		if err := whole.Save(path); err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(path)
		for _, ranks := range []int{1, 2, 3, 5, 8} {
			texts, firsts := cutCorpus(rng, text.c, ranks)
			name := fmt.Sprintf("text %d on %d ranks, parts from %v", n, ranks, firsts)
			file := filepath.Join(t.TempDir(), "shared")
			err := cluster.Run(ranks, func(c cluster.Comm) error {
				p, err := BuildOnRanks(t.Context(), texts[c.Rank()], text.o, TextPart{Comm: c, FirstToken: firsts[c.Rank()], Fingerprint: whole.fingerprint})
				if err != nil {
					return err
				}
				for i := p.First; i < p.End; i++ {
					if got, want := p.Row(i), whole.Row(i); !slices.Equal(got, want) {
						return fmt.Errorf("row %d is %v, not %v", i, got, want)
					}
				}
				if !slices.Equal(p.Slots(), whole.Slots()) || !slices.Equal(p.ContextCounts(), whole.ContextCounts()) {
					return fmt.Errorf("slots or counts of contexts differ")
				}
				return p.Save(file)
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: the file differs (%v)", name, err)
			}
		}
	}
}
