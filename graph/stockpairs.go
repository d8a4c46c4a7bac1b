package graph

// stockPairStep is a minibatch of pairs in stock operations: rows of both tables are gathered, and
// their gradients summed by row outside the graph.
type stockPairStep struct {
	pairs           *stockPairs
	words, contexts *table
	batch           *pairBatch
	everyRow        bool // those that do not occur have a gradient of zero
}

// newStockPairStep makes the step for batches of at most as many pairs as b has.
func newStockPairStep(words, contexts *table, b *pairBatch, everyRow bool) (*stockPairStep, error) {
	pairs, err := newStockPairs(len(b.words), words.dim, nil, 0, 0)
	return &stockPairStep{pairs, words, contexts, b, everyRow}, err
}

func (s *stockPairStep) optimizers() []parameterOptimizer {
	return append(s.words.optimizers(), s.contexts.optimizers()...)
}

func (s *stockPairStep) compiled() *machine { return s.pairs.machine }

func (s *stockPairStep) run() (float64, error) {
	b := s.batch
	s.pairs.clear()
	for e, word := range b.words {
		sign := float32(1)
		if e%b.width == 0 {
			sign = -1
		}
		s.pairs.set(e, s.words.row(int(word)), s.contexts.row(int(b.contexts[e])), sign, 1, 1)
	}
	loss, gradients, err := s.pairs.run()
	if err != nil {
		return 0, err
	}
	s.update(s.words, b.words, gradients[0])
	s.update(s.contexts, b.contexts, gradients[1])
	return loss, nil
}

// update updates the rows of pairs by the sums of their gradients, and all others by zero if the
// step updates every row.
func (s *stockPairStep) update(t *table, rows []uint32, gradients []float32) {
	sums := map[uint32][]float32{}
	for e, row := range rows {
		if sums[row] == nil {
			sums[row] = make([]float32, t.dim)
		}
		add(sums[row], gradients[e*t.dim:])
	}
	none := make([]float32, t.dim)
	for row := range uint32(t.rows) {
		if g, ok := sums[row]; ok {
			t.updateRow(int(row), g)
		} else if s.everyRow {
			t.updateRow(int(row), none)
		}
	}
}
