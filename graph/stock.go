package graph

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stockLoss is the skip-gram loss in Gorgonia's own operations, for a batch of
// B left rows of N values. The right rows are gathered outside the graph, so no
// gradient flows into the gather:
//
//	left: (B, N)   right[k]: (B, N), k = 0 the positive, the rest negatives
//	loss = sum of softplus(-left.right[0]) + sum over k of sum of softplus(left.right[k])
type stockLoss struct {
	*machine
	right     []*tensor.Dense
	loss      *gorgonia.Node
	gradients gorgonia.Nodes // for left and, if asked for, for right[0], right[1], ...
}

// newStockLoss builds the graph. left is used as it is, not copied. wrtRight
// asks for the gradients of the gathered right rows too.
func newStockLoss(left *tensor.Dense, width int, wrtRight bool) (s *stockLoss, err error) {
	defer operation.Recovered("build the stock graph", &err)
	rows, n := left.Shape()[0], left.Shape()[1]
	g := gorgonia.NewGraph()
	x := matrix(g, "left", left)
	s = &stockLoss{}
	wrt := gorgonia.Nodes{x}
	var loss *gorgonia.Node
	for k := range width {
		s.right = append(s.right, dense(make([]float32, rows*n), rows, n))
		r := matrix(g, fmt.Sprintf("right%d", k), s.right[k])
		wrt = append(wrt, r)
		term := stockTerm(x, r, k == 0)
		if loss == nil {
			loss = term
		} else {
			loss = gorgonia.Must(gorgonia.Add(loss, term))
		}
	}
	if !wrtRight {
		wrt = wrt[:1]
	}
	s.loss = loss
	if s.gradients, err = gorgonia.Grad(loss, wrt...); err != nil {
		return nil, fmt.Errorf("differentiate the stock graph: %w", err)
	}
	s.machine, err = newMachine(g)
	return s, err
}

// stockTerm is the loss of one pair a row: the sum of softplus(-s) for
// positives, of softplus(s) for negatives, s the dot products of the rows.
func stockTerm(left, right *gorgonia.Node, positive bool) *gorgonia.Node {
	scores := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(left, right)), 1))
	if positive {
		scores = gorgonia.Must(gorgonia.Neg(scores))
	}
	return gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Softplus(scores))))
}

// run gathers the targets' rows of table (V, N), runs the graph and returns the
// loss. A row without targets meets zeros, which give it no gradient; the log 2
// that each of its pairs adds to the loss is taken off.
func (s *stockLoss) run(t targets, table *tensor.Dense) (float64, error) {
	rows, n := s.right[0].Shape()[0], s.right[0].Shape()[1]
	width := len(s.right)
	list := make([]uint32, rows*width)
	t.fill(0, list)
	from := table.Float32s()
	without := 0
	for k, right := range s.right {
		to := right.Float32s()
		for i := range rows {
			row := to[i*n : (i+1)*n]
			if list[i*width] == noTarget {
				clear(row)
				without++
			} else {
				copy(row, from[int(list[i*width+k])*n:])
			}
		}
	}
	if err := s.machine.run(); err != nil {
		return 0, err
	}
	loss, ok := s.loss.Value().Data().(float32)
	if !ok {
		return 0, fmt.Errorf("stock graph: the loss is %v, not a float32", s.loss.Value())
	}
	return float64(loss) - float64(without)*math.Ln2, nil
}

// gradient returns the gradient with respect to left (0) or right[i-1] (i).
func (s *stockLoss) gradient(i int) (*tensor.Dense, error) {
	d, ok := s.gradients[i].Value().(*tensor.Dense)
	if !ok {
		return nil, fmt.Errorf("stock graph: gradient %d is %v, not a matrix", i, s.gradients[i].Value())
	}
	return d, nil
}

func (s *stockLoss) compiled() *machine { return s.machine }

// stockStep is one of the two steps of W2V-CL in stock operations.
type stockStep struct {
	*stockLoss
	left, right *table
	targets     targets
}

func newStockStep(left, right *table, t targets) (*stockStep, error) {
	loss, err := newStockLoss(left.dense, t.width(), false)
	return &stockStep{loss, left, right, t}, err
}

func (s *stockStep) optimizers() []parameterOptimizer { return s.left.optimizers() }

func (s *stockStep) run() (float64, error) {
	loss, err := s.stockLoss.run(s.targets, s.right.dense)
	if err != nil {
		return 0, err
	}
	g, err := s.gradient(0)
	if err != nil {
		return 0, err
	}
	for row := range s.left.rows {
		s.left.updateRow(row, g.Float32s()[row*s.left.dim:][:s.left.dim])
	}
	return loss, nil
}

// stockPairStep is a minibatch of pairs in stock operations: rows of both
// tables are gathered, and their gradients summed by row outside the graph. A
// smaller last batch gets a graph of its own.
type stockPairStep struct {
	*stockLoss
	words, contexts *table
	batch           *pairBatch
	everyRow        bool // those that do not occur have a gradient of zero
	left            *tensor.Dense
}

func newStockPairStep(words, contexts *table, b *pairBatch, everyRow bool) (*stockPairStep, error) {
	s := &stockPairStep{words: words, contexts: contexts, batch: b, everyRow: everyRow}
	return s, s.resize(b.left())
}

func (s *stockPairStep) resize(left int) (err error) {
	s.left = dense(make([]float32, left*s.words.dim), left, s.words.dim)
	s.stockLoss, err = newStockLoss(s.left, s.batch.width, true)
	return err
}

func (s *stockPairStep) optimizers() []parameterOptimizer {
	return append(s.words.optimizers(), s.contexts.optimizers()...)
}

func (s *stockPairStep) run() (float64, error) {
	b, n := s.batch, s.words.dim
	if b.left() != s.left.Shape()[0] {
		if err := s.close(); err != nil {
			return 0, err
		}
		if err := s.resize(b.left()); err != nil {
			return 0, err
		}
	}
	for i := range b.left() {
		copy(s.left.Float32s()[i*n:], s.words.row(int(b.words[i*b.width])))
	}
	loss, err := s.stockLoss.run(&List{b.width, b.contexts}, s.contexts.dense)
	if err != nil {
		return 0, err
	}
	words, contexts := map[uint32][]float32{}, map[uint32][]float32{}
	for k := -1; k < b.width; k++ { // -1: the left rows
		g, err := s.gradient(k + 1)
		if err != nil {
			return 0, err
		}
		for i := range b.left() {
			sums, row := words, b.words[i*b.width]
			if k >= 0 {
				sums, row = contexts, b.contexts[i*b.width+k]
			}
			if sums[row] == nil {
				sums[row] = make([]float32, n)
			}
			for j, x := range g.Float32s()[i*n:][:n] {
				sums[row][j] += x
			}
		}
	}
	s.update(s.words, words)
	s.update(s.contexts, contexts)
	return loss, nil
}

// update updates the rows that have a gradient, or all of them.
func (s *stockPairStep) update(t *table, gradients map[uint32][]float32) {
	if s.everyRow {
		zeros := make([]float32, t.dim)
		for row := range uint32(t.rows) {
			if gradients[row] == nil {
				gradients[row] = zeros
			}
		}
	}
	for row, g := range gradients {
		t.updateRow(int(row), g)
	}
}
