package wordcontext

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// These functions, and the corpus.SentenceReader of a scan, are all that looks at the
// tokens of the text.

func tokenCount(c *corpus.Corpus) int { return len(c.Tokens) }

func sentenceCount(c *corpus.Corpus) int { return len(c.Sentences) - 1 }

// sentenceAt returns the first sentence that does not begin before a token.
func sentenceAt(c *corpus.Corpus, token int) int { return sort.SearchInts(c.Sentences, token) }

// firstToken returns the first token of a sentence.
func firstToken(c *corpus.Corpus, sentence int) int { return c.Sentences[sentence] }

// sentenceTokens returns the number of tokens of a sentence.
func sentenceTokens(c *corpus.Corpus, sentence int) int {
	return c.Sentences[sentence+1] - c.Sentences[sentence]
}

// checkTokens returns an error if a token is not a word of the vocabulary.
func checkTokens(ctx context.Context, c *corpus.Corpus, threads int) error {
	const step = 1 << 20
	tokens, rows := c.Tokens, c.Vocabulary.Len()
	return parallel.Try(ctx, threads, (len(tokens)+step-1)/step, func(_, k int) error {
		for t, word := range tokens[k*step : min((k+1)*step, len(tokens))] {
			if int(word) >= rows {
				return fmt.Errorf("token %d of the corpus is word %d, but the vocabulary has %d words", k*step+t, word, rows)
			}
		}
		return nil
	})
}

// checkCorpus returns an error if the parts of the corpus do not fit together.
// Package corpus never returns such a corpus. checkTokens checks the
// token ids later, in parallel.
func checkCorpus(c *corpus.Corpus) error {
	if c == nil || c.Vocabulary == nil || len(c.Tokens) == 0 || c.Vocabulary.Len() == 0 {
		return errors.New("the corpus is empty: there is no word to train")
	}
	if len(c.Vocabulary.Counts) != c.Vocabulary.Len() {
		return fmt.Errorf("the vocabulary has %d words but %d counts", c.Vocabulary.Len(), len(c.Vocabulary.Counts))
	}
	if n := len(c.Sentences); n < 2 || c.Sentences[0] != 0 || c.Sentences[n-1] != len(c.Tokens) {
		return fmt.Errorf("the sentence bounds do not span the %d tokens of the corpus", len(c.Tokens))
	}
	for s, from := range c.Sentences[:len(c.Sentences)-1] {
		if from > c.Sentences[s+1] {
			return fmt.Errorf("sentence %d of the corpus ends before it starts", s)
		}
	}
	return nil
}
