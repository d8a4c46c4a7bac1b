package graph

import (
	"fmt"

	"gorgonia.org/tensor"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// pairBatch is one minibatch. Entry e = b(1+K)+k is pair k of left word b: it
// brings together row words[e] of W and row contexts[e] of C; k = 0 is the
// positive. A left word's 1+K entries name the same row of W.
type pairBatch struct {
	width           int // 1+K
	words, contexts []uint32
}

func (p *pairBatch) left() int { return len(p.words) / p.width }

// pairsStep is a minibatch of skip-gram pairs with look-ups on both sides as
// one node: loss, gradients of both tables and their update.
//
//	words: (V, N)  contexts: (V, N)  entries as in pairBatch
//	loss = sum over positives of softplus(-s) + sum over negatives of softplus(s)
//	s_e = words[word of e] . contexts[context of e]
//
// A row that occurs several times in the batch is updated once, by the sum of its
// gradients. Rows that do not occur are left alone, moments included (lazy Adam,
// as TensorFlow has it), or, if the step updates every row, have a gradient of zero.
// Sums have a fixed order, so the result does not depend on the number of threads.
type pairsStep struct {
	batch           *pairBatch
	words, contexts *table
	team            *team.Team
	keep            []float32 // V x N: gradients of words, which are then not updated; or nil
	zeros           []float32 // N: the gradient of rows that do not occur; nil unless the step updates every row

	byWord, byContext grouping
	coefficients      []float32 // by entry: gradient of the loss for its score
	losses            []float64 // by block of left words
	gradients         []float32 // of the distinct words of the batch, N each
	workers           []pairsWorker

	loss float64
}

type pairsWorker struct {
	scores                 []float32 // 1+K
	kinds                  []uint32  // likewise
	coefficients, gradient []float32 // of one row of a table
}

// pairBlock is how many left words, or rows, a goroutine takes at a time.
const pairBlock = 32

func newPairsStep(words, contexts *table, batch *pairBatch, everyRow bool, team *team.Team) *pairsStep {
	p := &pairsStep{
		batch: batch, words: words, contexts: contexts, team: team,
	}
	if everyRow {
		p.zeros = make([]float32, words.dim)
	}
	for range team.Threads() {
		p.workers = append(p.workers, pairsWorker{
			scores: make([]float32, batch.width), kinds: kindsOf(batch.width, batch.width),
			gradient: make([]float32, words.dim),
		})
	}
	return p
}

// run trains one batch in four phases with a barrier after each.
func (p *pairsStep) run() error {
	b := p.batch
	blocks := (b.left() + pairBlock - 1) / pairBlock
	p.coefficients, p.losses = memory.Resize(p.coefficients, len(b.words)), memory.Resize(p.losses, blocks)

	// 1. scores of all entries; beside it the sorting by row, which needs none
	err := p.team.Do(2+blocks, func(worker, i int) {
		switch i {
		case 0:
			p.byContext.group(p.contexts.rows, b.contexts, b.words)
		case 1:
			p.byWord.group(p.words.rows, b.words, b.contexts)
		default:
			p.losses[i-2] = p.score(&p.workers[worker], i-2)
		}
	})
	if err != nil {
		return err
	}
	// 2. gradients of the words, which need the old contexts
	n := p.words.dim
	p.gradients = memory.Resize(p.gradients, len(p.byWord.rows)*n)
	err = p.team.Each(len(p.byWord.rows), pairBlock, func(worker, i int) {
		p.gradient(&p.workers[worker], &p.byWord, i, p.contexts, p.gradients[i*n:][:n])
	})
	if err != nil {
		return err
	}
	// 3. gradients and update of the contexts, which need the old words
	err = p.update(p.contexts, &p.byContext, func(w *pairsWorker, i int) []float32 {
		p.gradient(w, &p.byContext, i, p.words, w.gradient)
		return w.gradient
	})
	if err != nil {
		return err
	}
	// 4. update of the words
	gradient := func(_ *pairsWorker, i int) []float32 { return p.gradients[i*n:][:n] }
	if p.keep == nil {
		err = p.update(p.words, &p.byWord, gradient)
	} else {
		clear(p.keep)
		err = p.team.Each(len(p.byWord.rows), pairBlock, func(_, i int) {
			copy(p.keep[int(p.byWord.rows[i])*n:][:n], p.gradients[i*n:])
		})
	}
	if err != nil {
		return err
	}
	p.loss = 0
	for _, x := range p.losses {
		p.loss += x
	}
	return nil
}

// score computes the coefficients of one block of left words and returns its
// loss.
func (p *pairsStep) score(w *pairsWorker, block int) float64 {
	n, width := p.words.dim, p.batch.width
	loss := simd.NewLoss()
	for b := block * pairBlock; b < min((block+1)*pairBlock, p.batch.left()); b++ {
		from, to := b*width, (b+1)*width
		word := int(p.batch.words[from])
		simd.Dots(w.scores, p.words.data[word*n:][:n], p.contexts.data, p.batch.contexts[from:to])
		simd.Gradients(p.coefficients[from:to], w.scores, w.kinds, 1, &loss)
	}
	return loss.Total()
}

// update updates the rows of a grouping of a table, of which gradient returns the
// gradient of the i-th; and all others, if the step updates every row.
func (p *pairsStep) update(t *table, g *grouping, gradient func(w *pairsWorker, i int) []float32) error {
	if p.zeros == nil {
		return p.team.Each(len(g.rows), pairBlock, func(worker, i int) {
			t.move(int(g.rows[i]), 1, gradient(&p.workers[worker], i))
		})
	}
	return p.team.Each(t.rows, pairBlock, func(worker, row int) {
		of := p.zeros
		if slot := g.slots[row]; slot > 0 {
			of = gradient(&p.workers[worker], int(slot)-1)
		}
		t.move(row, 1, of)
	})
}

// gradient sums the gradient of row i of a grouping: its entries' coefficients
// times the rows they meet in the other table.
func (p *pairsStep) gradient(w *pairsWorker, g *grouping, i int, other *table, out []float32) {
	from, to := g.starts[i], g.starts[i+1]
	w.coefficients = memory.Resize(w.coefficients, to-from)
	for j, e := range g.entries[from:to] {
		w.coefficients[j] = p.coefficients[e]
	}
	simd.Combine(out, w.coefficients, other.data, g.others[from:to])
}

// train adds the node, whose inputs are the tables themselves.
func (p *pairsStep) train(g *iteration) {
	work := func([]*tensor.Dense) error {
		p.words.optimizer.Begin(g.number(), g.rate())
		p.contexts.optimizer.Begin(g.number(), g.rate())
		return p.run()
	}
	words, contexts := g.input(p.words.name, p.words.dense), g.input(p.contexts.name, p.contexts.dense)
	g.node(p.name("words and contexts"), p.words.dense, work, words, contexts, g.clock)
}

// name is that of the node, which updates some tables.
func (p *pairsStep) name(tables string) string {
	negatives := p.batch.width - 1
	return fmt.Sprintf("minibatch, update %s: loss of %d negatives, gradient, %s", tables, negatives, p.contexts.method)
}

// kindsOf returns the kinds of n scores, width of them a row, the positive first.
func kindsOf(n, width int) []uint32 {
	kinds := make([]uint32, n)
	for i := 0; i < n; i += width {
		kinds[i] = simd.Positive
	}
	return kinds
}

// A grouping sorts the entries of a minibatch by the table row they update, so
// that conflicting gradients become one sum per row.
type grouping struct {
	slots   []uint32 // by row of the table: 1 + its place in rows; 0: not in the batch
	rows    []uint32 // the distinct rows, in order of first occurrence
	starts  []int    // entries of rows[i] are entries[starts[i]:starts[i+1]]
	entries []int
	others  []uint32 // for each of entries, the row of the other table it meets
}

// group sorts entries 0, 1, ... of which entry e updates row keys[e] and meets
// row others[e]. Entries of a row keep their order.
func (g *grouping) group(tableRows int, keys, others []uint32) {
	for _, row := range g.rows { // of the batch before
		g.slots[row] = 0
	}
	if len(g.slots) != tableRows {
		g.slots = make([]uint32, tableRows)
	}
	g.rows, g.starts = g.rows[:0], append(g.starts[:0], 0)
	for _, key := range keys {
		if g.slots[key] == 0 {
			g.rows, g.starts = append(g.rows, key), append(g.starts, 0)
			g.slots[key] = uint32(len(g.rows))
		}
		g.starts[g.slots[key]]++
	}
	for i := range g.rows {
		g.starts[i+1] += g.starts[i]
	}
	g.entries, g.others = memory.Resize(g.entries, len(keys)), memory.Resize(g.others, len(keys))
	// While filling, starts[i] runs to the end of group i; then all move up.
	for e, key := range keys {
		at := &g.starts[g.slots[key]-1]
		g.entries[*at], g.others[*at] = e, others[e]
		*at++
	}
	copy(g.starts[1:], g.starts)
	g.starts[0] = 0
}
