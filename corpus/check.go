package corpus

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// CheckTokens returns an error if a token is not a word of the vocabulary.
func (c *Corpus) CheckTokens(ctx context.Context, threads int) error {
	const step = 1 << 20
	text, rows := c.Text(), c.Vocabulary.Len()
	if text.InFile() || text.Computed() { // a file was checked when it was opened
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

// Check returns an error if the corpus has no word, or if its parts do not fit together,
// which no corpus that was read is like. It leaves the tokens to CheckTokens.
func (c *Corpus) Check() error {
	if c == nil || c.Vocabulary == nil || c.Text().Tokens() == 0 || c.Vocabulary.Len() == 0 {
		return errors.New("the corpus is empty: there is no word to train")
	}
	if len(c.Vocabulary.Counts) != c.Vocabulary.Len() {
		return fmt.Errorf("the vocabulary has %d words but %d counts", c.Vocabulary.Len(), len(c.Vocabulary.Counts))
	}
	return c.Text().CheckBounds()
}
