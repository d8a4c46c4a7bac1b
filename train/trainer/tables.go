package trainer

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
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

// Known is how many of the words a vocabulary has.
func (t *Tables) Known(vocabulary *corpus.Vocabulary) (known int) {
	for _, word := range t.Vocabulary {
		if _, ok := vocabulary.ID(word); ok {
			known++
		}
	}
	return known
}

// Bytes is the memory of the values.
func (t *Tables) Bytes() int64 { return 4 * int64(len(t.Words)+len(t.Contexts)) }

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

// AddContexts computes dst = words + weight·contexts, all of them (V, N).
func AddContexts(dst, words, contexts []float32, weight float32, threads int) {
	const atATime = 1 << 18
	// Without a context to cancel there is no error.
	_ = parallel.Do(context.Background(), threads, (len(dst)+atATime-1)/atATime, func(part int) {
		first, end := part*atATime, min((part+1)*atATime, len(dst))
		AddContext(dst[first:end], words[first:end], contexts[first:end], weight)
	})
}

// AddContext is AddContexts for one row.
func AddContext(dst, word, context []float32, weight float32) {
	for i := range dst {
		dst[i] = word[i] + float32(weight*context[i]) // rounded twice on every machine
	}
}
