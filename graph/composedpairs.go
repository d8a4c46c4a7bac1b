package graph

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A batchList numbers the distinct words of a minibatch: only they are composed.
type batchList struct {
	slots []uint32 // by word: 1 + its place in the batch; 0: not in it
	words []uint32 // of the batch, then those of earlier batches
}

// number lists the distinct words of the batch and replaces each word by its
// place in the list.
func (l *batchList) number(b *pairBatch) {
	count := 0
	for i, word := range b.words {
		if l.slots[word] == 0 {
			l.words[count] = word
			count++
			l.slots[word] = uint32(count)
		}
		b.words[i] = l.slots[word] - 1
	}
	for _, word := range l.words[:count] {
		l.slots[word] = 0
	}
}

// composedPairs is pairsStep with words that were composed:
//
//	rows: (B, N), vectors of the words of the batch  contexts: (V, N)
//
// It updates the contexts and keeps the gradient of rows.
type composedPairs struct {
	pairs    *pairsStep
	gradient *tensor.Dense // (B, N)
}

func newComposedPairs(size int, contexts *table, b *pairBatch, everyRow bool, workers *team.Team) *composedPairs {
	n := contexts.dim
	data := memory.Floats(size * n)
	c := &composedPairs{gradient: dense(data, size, n)}
	c.pairs = newPairsStep(&table{name: "rows", rows: size, dim: n}, contexts, b, everyRow, workers)
	c.pairs.keep = data
	return c
}

// train adds the node that trains the contexts, and returns the gradient of rows.
func (c *composedPairs) train(g *iteration, rows *gorgonia.Node) *gorgonia.Node {
	contexts := c.pairs.contexts
	work := func(in []*tensor.Dense) error {
		contexts.optimizer.Begin(g.number(), g.rate())
		c.pairs.words.data = in[0].Float32s()
		return c.pairs.run()
	}
	return g.node(c.pairs.name(contexts.name), c.gradient, work, rows, g.input(contexts.name, contexts.dense), g.clock)
}
