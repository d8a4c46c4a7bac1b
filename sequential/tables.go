package sequential

import (
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
)

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
	return text.WithVocabulary(vocabulary), nil
}
