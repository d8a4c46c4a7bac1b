package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
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
// It updates the contexts and keeps the gradient of rows for the derivative node
// that Gorgonia's Grad adds.
type composedPairs struct {
	lossOperation
	pairs    *pairsStep
	gradient *tensor.Dense // (B, N)
	begin    func()        // begins the step of the contexts' optimizer
	value    gorgonia.F32
}

func newComposedPairs(size int, contexts *table, b *pairBatch, everyRow bool, workers *team.Team) *composedPairs {
	n := contexts.dim
	data := memory.Floats(size * n)
	c := &composedPairs{gradient: dense(data, size, n)}
	c.pairs = newPairsStep(&table{name: "rows", rows: size, dim: n}, contexts, b, everyRow, workers)
	c.pairs.keep = data
	return c
}

// apply adds the operation to the graph of rows and returns its loss.
func (c *composedPairs) apply(g *iteration, rows *gorgonia.Node) *gorgonia.Node {
	contexts := c.pairs.contexts
	return g.add(func() (*gorgonia.Node, error) {
		inputs := gorgonia.Nodes{rows, g.input(contexts.name, contexts.dense), g.clock}
		c.Base = operation.New(c.pairs.name(contexts.name), inputs, tensor.Float32)
		c.begin = func() { contexts.optimizer.Begin(g.number(), g.rate()) }
		return gorgonia.ApplyOp(c, inputs...)
	})
}

// Do trains the contexts on one batch.
func (c *composedPairs) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	rows, contexts, err := twoMatrices(inputs)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	if contexts != c.pairs.contexts.dense {
		return nil, fmt.Errorf("%v: the input is not the table it was made for", c)
	}
	c.begin()
	c.pairs.words.data = rows.Float32s()
	if err := c.pairs.run(); err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	c.value = gorgonia.F32(c.pairs.loss)
	return &c.value, nil
}

// SymDiff returns the node of the gradient for rows, which Do computes.
func (c *composedPairs) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	return applyLossGradient(c.String(), inputs, output, grad, c.gradient)
}
