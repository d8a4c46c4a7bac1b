package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Frequencies says how often the words of a synthetic text occur, and with it
// how often each row of the tables is gathered.
type Frequencies string

const (
	// Zipf makes a word's count fall as 1/rank, as in a text, and subsamples
	// as training does. Rows of frequent words stay in the caches.
	Zipf Frequencies = "zipf"
	// Uniform makes all words equally frequent, so that with large tables
	// nearly every gathered row comes from memory.
	Uniform Frequencies = "uniform"
)

// A Text is what training steps need of a text: M, and where negatives come
// from.
type Text struct {
	Matrix *wordcontext.Matrix
	Noise  *corpus.Alias
}

// The synthetic text: as many columns as a run has by default, so that most
// rows are repeated many times over, which is the slower way to read a column;
// and a text just long enough for that.
const (
	textContexts = 8192
	textWindow   = 5
	textSample   = 1e-4
	textLine     = 1000

	tokensPerWord = 200
	maxTokens     = 8_000_000
	minCount      = 8 // of each word, about 80 contexts
)

// NewText makes a text of so many different words at random, builds its M and
// takes the negatives from M's column sums, as training does by default.
func NewText(ctx context.Context, words int, f Frequencies, seed uint64, threads int) (*Text, error) {
	text, err := syntheticCorpus(words, f, seed)
	if err != nil {
		return nil, err
	}
	options := wordcontext.Options{Window: textWindow, Contexts: textContexts, Passes: 1, Seed: seed, Threads: threads}
	if f == Zipf {
		options.Sample = textSample
	}
	m, err := wordcontext.Build(ctx, text, options)
	if err != nil {
		return nil, fmt.Errorf("cannot build M of a synthetic text of %d words: %w", words, err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		return nil, fmt.Errorf("cannot draw negatives: %w", err)
	}
	return &Text{m, noise}, nil
}

// TextMemory estimates the bytes that NewText takes at its peak.
func TextMemory(words int) int64 {
	tokens := int64(min(tokensPerWord*words, maxTokens)) + minCount*int64(words)
	const perToken = 4 + 2*textWindow*4
	const perWord = 100 // names and their index, counts, offsets, the alias table
	return perToken*tokens + perWord*int64(words)
}

// syntheticCorpus shuffles the words' occurrences and cuts them into lines.
func syntheticCorpus(words int, f Frequencies, seed uint64) (*corpus.Corpus, error) {
	counts, err := syntheticCounts(words, f)
	if err != nil {
		return nil, err
	}
	names := make([]string, words)
	var tokens []uint32
	for id, count := range counts {
		names[id] = fmt.Sprintf("w%d", id)
		for range count {
			tokens = append(tokens, uint32(id))
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	vocabulary, err := corpus.NewVocabulary(names, counts)
	if err != nil {
		return nil, fmt.Errorf("synthetic text: %w", err)
	}
	c := &corpus.Corpus{Vocabulary: vocabulary, Tokens: tokens}
	for at := 0; at < len(tokens); at += textLine {
		c.Sentences = append(c.Sentences, at)
	}
	c.Sentences = append(c.Sentences, len(tokens))
	return c, nil
}

// syntheticCounts returns the counts of words by falling frequency.
func syntheticCounts(words int, f Frequencies) ([]uint64, error) {
	if words < 2 {
		return nil, fmt.Errorf("a synthetic text of %d words: it needs 2 at least", words)
	}
	if int64(words) > math.MaxInt32 {
		return nil, fmt.Errorf("a synthetic text of %d words: it can have %d at most", words, math.MaxInt32)
	}
	total := float64(min(tokensPerWord*words, maxTokens))
	harmonic := 0.0
	for rank := 1; rank <= words; rank++ {
		harmonic += 1 / float64(rank)
	}
	counts := make([]uint64, words)
	for i := range counts {
		share := 1 / float64(words)
		switch f {
		case Zipf:
			share = 1 / (float64(i+1) * harmonic)
		case Uniform:
		default:
			return nil, fmt.Errorf("frequencies %q are unknown; they are %s or %s", f, Zipf, Uniform)
		}
		counts[i] = max(uint64(total*share), minCount)
	}
	return counts, nil
}
