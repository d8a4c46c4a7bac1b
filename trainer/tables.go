package trainer

import (
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
)

// Tables are trained vectors with the words they belong to, to go on training
// from. The zero value has none.
type Tables struct {
	Vocabulary []string  // the word of each row
	Words      []float32 // W, (len(Vocabulary), N) in row-major order
	Contexts   []float32 // C, the same; nil: not known, zeros
}

// Check returns why the tables are wrong for vectors of dim values.
func (t *Tables) Check(dim int) error {
	n := len(t.Vocabulary) * dim
	if len(t.Words) != n {
		return fmt.Errorf("%d values for %d words of dimension %d; there should be %d", len(t.Words), len(t.Vocabulary), dim, n)
	}
	if t.Contexts != nil && len(t.Contexts) != n {
		return fmt.Errorf("%d context values for %d words of dimension %d; there should be %d", len(t.Contexts), len(t.Vocabulary), dim, n)
	}
	return nil
}

// CopyTo copies the rows of all words that a vocabulary has to tables of its, words
// and contexts.
func (t *Tables) CopyTo(vocabulary *corpus.Vocabulary, words, contexts []float32, dim int) {
	for i, word := range t.Vocabulary {
		id, ok := vocabulary.ID(word)
		if !ok {
			continue
		}
		copy(words[int(id)*dim:][:dim], t.Words[i*dim:])
		if t.Contexts != nil {
			copy(contexts[int(id)*dim:][:dim], t.Contexts[i*dim:])
		}
	}
}
