package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Frequencies names how often the words of a synthetic text occur. Rows of the
// tables are gathered as often.
type Frequencies string

const (
	// Zipf makes counts fall as 1/rank, as in a text, and subsamples as in
	// training. Rows of frequent words stay in the caches.
	Zipf Frequencies = "zipf"
	// Uniform makes all words equally frequent. Nearly every gathered row of a
	// large table comes from memory.
	Uniform Frequencies = "uniform"
)

// AllFrequencies lists all, the default first.
func AllFrequencies() []Frequencies { return []Frequencies{Zipf, Uniform} }

// A Text has the inputs of training steps: M and the distribution of negatives.
type Text struct {
	Matrix *wordcontext.Matrix
	Noise  *corpus.Alias
}

// M of the synthetic text has rows as long as those of a long run. Most are repeated
// many times to fill them, which makes samples slower to read. The text is just long
// enough for that.
const (
	textContexts = 8192
	textWindow   = 5
	textSample   = 1e-4
	textLine     = 1000

	tokensPerWord = 200
	maxTokens     = 8_000_000
	minCount      = 8 // of each word, about 80 contexts
)

// NewText makes a random text with a vocabulary of the given size and builds its M.
// Negatives come from M's column sums, as by default in training.
func NewText(ctx context.Context, vocabulary int, f Frequencies, s Samples, seed uint64, threads int) (*Text, error) {
	text, err := syntheticCorpus(vocabulary, f, seed)
	if err != nil {
		return nil, err
	}
	options := wordcontext.Options{Window: textWindow, Contexts: textContexts, Passes: 1, Seed: seed, Threads: threads}
	s.set(&options)
	if f == Zipf {
		options.Sample = textSample
	}
	m, err := wordcontext.Build(ctx, text, options)
	if err != nil {
		return nil, fmt.Errorf("cannot build M of a synthetic text with a vocabulary of %d: %w", vocabulary, err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		return nil, fmt.Errorf("cannot draw negatives: %w", err)
	}
	return &Text{m, noise}, nil
}

// TextMemory estimates the bytes that NewText needs at its peak.
func TextMemory(vocabulary int) int64 {
	tokens := int64(min(tokensPerWord*vocabulary, maxTokens)) + minCount*int64(vocabulary)
	const perToken = 4 + 2*textWindow*4
	const perWord = 100 // names and their index, counts, offsets, the alias table
	return perToken*tokens + perWord*int64(vocabulary)
}

// syntheticCorpus shuffles the occurrences of all words and cuts them into lines.
func syntheticCorpus(vocabulary int, f Frequencies, seed uint64) (*corpus.Corpus, error) {
	counts, err := syntheticCounts(vocabulary, f)
	if err != nil {
		return nil, err
	}
	names := make([]string, vocabulary)
	var tokens []uint32
	for id, count := range counts {
		names[id] = fmt.Sprintf("w%d", id)
		for range count {
			tokens = append(tokens, uint32(id))
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	c := &corpus.Corpus{Tokens: tokens}
	if c.Vocabulary, err = corpus.NewVocabulary(names, counts); err != nil {
		return nil, fmt.Errorf("synthetic text: %w", err)
	}
	for at := 0; at < len(tokens); at += textLine {
		c.Sentences = append(c.Sentences, at)
	}
	c.Sentences = append(c.Sentences, len(tokens))
	return c, nil
}

// syntheticCounts returns the counts of words by falling frequency.
func syntheticCounts(vocabulary int, f Frequencies) ([]uint64, error) {
	if vocabulary < 2 {
		return nil, fmt.Errorf("a synthetic text with a vocabulary of %d: it needs at least 2 words", vocabulary)
	}
	if int64(vocabulary) > math.MaxInt32 {
		return nil, fmt.Errorf("a synthetic text with a vocabulary of %d: it can have at most %d words", vocabulary, math.MaxInt32)
	}
	total := float64(min(tokensPerWord*vocabulary, maxTokens))
	harmonic := 0.0
	for rank := 1; rank <= vocabulary; rank++ {
		harmonic += 1 / float64(rank)
	}
	counts := make([]uint64, vocabulary)
	for i := range counts {
		share := 1 / float64(vocabulary)
		switch f {
		case Zipf:
			share = 1 / (float64(i+1) * harmonic)
		case Uniform:
		default:
			return nil, fmt.Errorf("frequencies %q are unknown; they are one of %v", f, AllFrequencies())
		}
		counts[i] = max(uint64(total*share), minCount)
	}
	return counts, nil
}
