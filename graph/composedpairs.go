package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// composedPairStep trains an encoder and the contexts on a minibatch of pairs.
// Only the words of the batch are composed.
type composedPairStep struct {
	*machine // of a batch
	*composer
	forward *machine // of the vocabulary's rows
	rows    *gorgonia.Node
	batch   *pairBatch
	loss    *composedPairs
	slots   []uint32 // by word: 1 + its place in the batch; 0: not in it
	list    []uint32 // the words of the batch, then words of earlier batches
}

// newComposedPairStep makes the graph for batches of at most size positives. It
// updates the rows of parameters and contexts that a batch holds, or every row.
func newComposedPairStep(words *composer, contexts *table, b *pairBatch, size int, everyRow bool, c Options) (s *composedPairStep, err error) {
	defer operation.Recovered("build the graph of the encoder", &err)
	s = &composedPairStep{composer: words, batch: b, slots: make([]uint32, c.Encoder.Words()), list: make([]uint32, size)}
	s.sparse = !everyRow
	g := gorgonia.NewGraph()
	nodes, rows, err := s.compose(g, s.list)
	if err != nil {
		return nil, err
	}
	s.loss = newComposedPairs(size, contexts, b, everyRow, s.team)
	loss, err := gorgonia.ApplyOp(s.loss, rows, matrix(g, contexts.name, contexts.dense))
	if err != nil {
		return nil, err
	}
	if s.machine, err = s.differentiate(g, loss, nodes); err != nil {
		return nil, err
	}
	g = gorgonia.NewGraph()
	if _, s.rows, err = s.compose(g, nil); err != nil {
		return nil, err
	}
	s.forward, err = newMachine(g)
	return s, err
}

// refresh computes the rows of the whole vocabulary.
func (s *composedPairStep) refresh() error {
	if err := s.forward.run(); err != nil {
		return err
	}
	return s.keep(s.rows)
}

func (s *composedPairStep) run() (float64, error) {
	s.number()
	if err := s.machine.run(); err != nil {
		return 0, err
	}
	return s.loss.pairs.loss, s.update()
}

func (s *composedPairStep) compiled() *machine { return s.machine }

func (s *composedPairStep) optimizers() []parameterOptimizer {
	return append(s.loss.pairs.contexts.optimizers(), s.trained...)
}

// number lists the distinct words of the batch and replaces each word by its
// place in the list.
func (s *composedPairStep) number() {
	count := 0
	for i, word := range s.batch.words {
		if s.slots[word] == 0 {
			s.list[count] = word
			count++
			s.slots[word] = uint32(count)
		}
		s.batch.words[i] = s.slots[word] - 1
	}
	for _, word := range s.list[:count] {
		s.slots[word] = 0
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
	value    gorgonia.F32
}

func newComposedPairs(size int, contexts *table, b *pairBatch, everyRow bool, workers *team.Team) *composedPairs {
	n := contexts.dim
	data := memory.Floats(size * n)
	c := &composedPairs{lossOperation: newLossOperation(fmt.Sprintf("skip-gram loss of pairs, %d negatives, updates contexts", b.width-1))}
	c.gradient = dense(data, size, n)
	c.pairs = newPairsStep(&table{name: "rows", rows: size, dim: n}, contexts, b, everyRow, workers)
	c.pairs.keep = data
	return c
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
	c.pairs.words.data = rows.Float32s()
	if err := c.pairs.run(); err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	c.value = gorgonia.F32(c.pairs.loss)
	return &c.value, nil
}

// DiffWRT says that there is a gradient for rows only.
func (c *composedPairs) DiffWRT(int) []bool { return []bool{true, false} }

// SymDiff returns the node of the gradient for rows, which Do computes.
func (c *composedPairs) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	node, err := applyLossGradient(c, inputs[0], output, grad, c.gradient)
	if err != nil {
		return nil, err
	}
	return gorgonia.Nodes{node, nil}, nil
}
