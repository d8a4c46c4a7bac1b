package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A text has the inputs of training steps: M and the distribution of negatives.
type text struct {
	matrix *wordcontext.Matrix
	noise  *corpus.Alias
}

// M has rows as long as those of a long run. The text is just long enough to repeat most
// of them many times, which makes samples slower to read.
const (
	textContexts = 8192
	textWindow   = 5
	textSample   = 1e-4
	textLine     = 1000

	tokensPerWord = 200
	maxTokens     = 8_000_000
	minCount      = 8 // of each word, about 80 contexts
)

// newText makes a random text with a vocabulary of the given size and builds its M.
// Negatives come from M's column sums, as by default in training.
func newText(ctx context.Context, vocabulary int, seed uint64) (*text, error) {
	c, err := syntheticCorpus(vocabulary, seed)
	if err != nil {
		return nil, err
	}
	m, err := wordcontext.Build(ctx, c, wordcontext.Options{Window: textWindow, Contexts: textContexts, Passes: 1, Seed: seed, Sample: textSample})
	if err != nil {
		return nil, err
	}
	noise, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		return nil, err
	}
	return &text{m, noise}, nil
}

// textMemory estimates the bytes that newText needs at its peak.
func textMemory(vocabulary int) int64 {
	tokens := int64(min(tokensPerWord*vocabulary, maxTokens)) + minCount*int64(vocabulary)
	const perToken = 4 + 2*textWindow*4
	const perWord = 100 // names and their index, counts, offsets, the alias table
	return perToken*tokens + perWord*int64(vocabulary)
}

// syntheticCorpus makes a text whose counts fall as 1/rank: it shuffles the occurrences of
// all words and cuts them into lines.
func syntheticCorpus(vocabulary int, seed uint64) (*corpus.Corpus, error) {
	harmonic := 0.0
	for rank := 1; rank <= vocabulary; rank++ {
		harmonic += 1 / float64(rank)
	}
	total := float64(min(tokensPerWord*vocabulary, maxTokens))
	names, counts := make([]string, vocabulary), make([]uint64, vocabulary)
	var tokens []uint32
	for id := range counts {
		names[id] = fmt.Sprintf("w%d", id)
		counts[id] = max(uint64(total/(float64(id+1)*harmonic)), minCount)
		for range counts[id] {
			tokens = append(tokens, uint32(id))
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	c := &corpus.Corpus{Tokens: tokens}
	var err error
	if c.Vocabulary, err = corpus.NewVocabulary(names, counts); err != nil {
		return nil, err
	}
	for at := 0; at < len(tokens); at += textLine {
		c.Sentences = append(c.Sentences, at)
	}
	c.Sentences = append(c.Sentences, len(tokens))
	return c, nil
}
