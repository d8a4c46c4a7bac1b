package wordcontext

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// checkTokens returns an error if a token is not a word of the vocabulary.
func checkTokens(ctx context.Context, c *corpus.Corpus, threads int) error {
	const step = 1 << 20
	text, rows := c.Text(), c.Vocabulary.Len()
	if text.InFile() { // which was checked when it was opened
		return nil
	}
	return parallel.Try(ctx, threads, (text.Tokens()+step-1)/step, func(_, k int) (err error) {
		text.Blocks(k*step, min((k+1)*step, text.Tokens()), func(first int, ids []uint32) bool {
			for t, word := range ids {
				if int(word) >= rows {
					err = fmt.Errorf("token %d of the corpus is word %d, but the vocabulary has %d words", first+t, word, rows)
					return false
				}
			}
			return true
		})
		return err
	})
}

// checkCorpus returns an error if the parts of the corpus do not fit together.
// Package corpus never returns such a corpus. checkTokens checks the
// token ids later, in parallel.
func checkCorpus(c *corpus.Corpus) error {
	if c == nil || c.Vocabulary == nil || c.Text().Tokens() == 0 || c.Vocabulary.Len() == 0 {
		return errors.New("the corpus is empty: there is no word to train")
	}
	if len(c.Vocabulary.Counts) != c.Vocabulary.Len() {
		return fmt.Errorf("the vocabulary has %d words but %d counts", c.Vocabulary.Len(), len(c.Vocabulary.Counts))
	}
	return c.Text().CheckBounds()
}
