package sequential

import (
	"errors"
	"runtime"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A block is some sentences of a text whose words are composed together: their rows take the
// place of W.
//
//	for each block of some thousand tokens:
//		for each word w of the block: compose W_w
//		for each sentence of the block: train it
//		for each word w of the block: add the change of W_w to the rows that it is composed of
type block struct {
	rows           *composed.Block
	tokens         int // of the text, before subsampling, at least
	words, widths  []uint32
	inputs         []uint32 // rows of words
	starts, places []int    // of each sentence: its first word, and its first token's place in the text
}

func newBlock(c *Options) *block {
	return &block{rows: composed.NewBlock(c.Composition, c.Threads), tokens: c.Block}
}

// checkComposition returns why the rows of a text's words cannot be composed.
func checkComposition(c *composed.Composition, text *corpus.Corpus) error {
	if c.Words() != text.Vocabulary.Len() {
		return errors.New("the composition is of another vocabulary")
	}
	return c.Check()
}

// composedState is the state of a trainer whose W is composed. The words' own rows are not
// named words, which would be W.
func composedState(c *composed.Composition, contexts []float32) []trainer.Tensor {
	state := []trainer.Tensor{{Name: "parts", Data: c.Parts}}
	if c.Own != nil {
		state = append(state, trainer.Tensor{Name: "own", Data: c.Own})
	}
	return append(state, trainer.Tensor{Name: "contexts", Data: contexts})
}

// trainBlock trains sentences from first on, a block of them but not those from end on. It
// returns the first that is left.
func (w *worker) trainBlock(first, end int) int {
	b := w.block
	b.words, b.widths, b.starts, b.places = b.words[:0], b.widths[:0], append(b.starts[:0], 0), b.places[:0]
	for begin := w.text.Start(first); first < end && w.text.Start(first)-begin < b.tokens; first++ {
		words, widths := w.reader.Sentence(w.epoch, first)
		b.words, b.widths = append(b.words, words...), append(b.widths, widths...)
		b.starts, b.places = append(b.starts, len(b.words)), append(b.places, w.part+w.text.Start(first))
	}
	b.inputs = memory.Resize(b.inputs, len(b.words))
	w.model.words = b.rows.Begin(b.inputs, b.words)
	for i, place := range b.places {
		from, to := b.starts[i], b.starts[i+1]
		w.sentence = sentence{first: place, words: b.words[from:to], inputs: b.inputs[from:to]}
		if len(b.widths) > 0 {
			w.sentence.widths = b.widths[from:to]
		}
		w.algorithm.train(&w.sentence)
	}
	b.rows.End(w.model.rate)
	return first
}

// Refresh composes W, if it is composed of parts. All processors take part, also for a trainer that leaves training to a device.
func (t *Trainer) Refresh() error {
	c := t.options.Composition
	if c == nil {
		return nil
	}
	n := c.Dim
	parallel.Ranges(runtime.GOMAXPROCS(0), c.Words(), 1<<8, func(first, end int) {
		composer := composed.Composer{Composition: c}
		for word := first; word < end; word++ {
			composer.Compose(t.words[word*n:][:n], uint32(word), nil)
		}
	})
	return nil
}
