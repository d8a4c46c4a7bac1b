package sequential

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

// check returns why the tables are wrong for vectors of dim values.
func (t *Tables) check(dim int) error {
	n := len(t.Vocabulary) * dim
	if len(t.Words) != n {
		return fmt.Errorf("%d values for %d words of dimension %d; there should be %d", len(t.Words), len(t.Vocabulary), dim, n)
	}
	if t.Contexts != nil && len(t.Contexts) != n {
		return fmt.Errorf("%d context values for %d words of dimension %d; there should be %d", len(t.Contexts), len(t.Vocabulary), dim, n)
	}
	return nil
}

// copyTo copies the rows of all words that a vocabulary has to tables of its.
func (t *Tables) copyTo(vocabulary *corpus.Vocabulary, words, contexts []float32, dim int) {
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

// Grow returns the text with a vocabulary that has the given words, too: those
// that it lacks come after its own, with a count of zero, so that they are
// never negatives and keep their vectors. The text itself is not changed.
func Grow(text *corpus.Corpus, words []string) (*corpus.Corpus, error) {
	own := text.Vocabulary
	grown, counts := own.Words[:own.Len():own.Len()], own.Counts[:own.Len():own.Len()]
	for _, word := range words {
		if _, ok := own.ID(word); !ok {
			grown, counts = append(grown, word), append(counts, 0)
		}
	}
	vocabulary, err := corpus.NewVocabulary(grown, counts)
	if err != nil {
		return nil, fmt.Errorf("grow the vocabulary by %d words: %w", len(words), err)
	}
	return &corpus.Corpus{Vocabulary: vocabulary, Tokens: text.Tokens, Sentences: text.Sentences, Stats: text.Stats}, nil
}
