package sequential

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// An algorithm trains sentences. Each thread has its own, with the memory it
// works in; all threads share the tables.
type algorithm interface {
	train(s *sentence)
}

// A spanning algorithm collects sentences, to train them together: at the latest in
// flush.
type spanning interface {
	algorithm
	flush()
}

// A model is the tables that an algorithm trains, and its means to do so.
type model struct {
	Options
	words, contexts []float32 // W, (V, N), or the rows of a block; and C with the copies of all threads behind it
	noise           *corpus.Alias
	tree            *tree     // of hierarchical softmax, or nil; contexts are then the vectors of its nodes
	product                   // of this thread
	copies          *copies   // of this thread
	negatives       negatives // of this thread
	outputs         []uint32  // (words, 1+K): of all windows of the sentence, where they share negatives
	paths           paths     // the same with hierarchical softmax
}

// drawAtMost says how many negatives a window draws at most.
func (m *model) drawAtMost(count int) {
	m.negatives = negatives{noise: m.noise, seed: m.Seed, perWindow: (count + 3) &^ 3}
}

func (m *model) drawOutputs(s *sentence) {
	if m.tree != nil {
		m.drawPaths(s)
		return
	}
	m.outputs = m.negatives.drawAll(m.outputs, s, m.Negatives)
	m.copies.rows(m.outputs)
}

// outputsOf returns the outputs of the window of word t, as rows of C, target
// first, or nothing after the sentence's end.
func (m *model) outputsOf(t int) []uint32 {
	if m.tree != nil {
		first, end := m.paths.of(t)
		return m.paths.rows[first:end]
	}
	first := min(t*(1+m.Negatives), len(m.outputs))
	return m.outputs[first:min(first+1+m.Negatives, len(m.outputs))]
}

// kindsOf returns the kinds of the outputs of the window of word t; with negatives all windows have
// the same.
func (m *model) kindsOf(t int, ofNegatives []uint32) []uint32 {
	if m.tree == nil {
		return ofNegatives
	}
	first, end := m.paths.of(t)
	return m.paths.kinds[first:end]
}

// step trains inputs, rows of left, with outputs; see product.train.
func (m *model) step(left []float32, inputs, outputs, kinds, next []uint32) {
	m.product.train(left, inputs, m.contexts, outputs, kinds, next)
	m.copies.used(outputs)
}

// ahead is how many windows, or pairs, before they are needed rows are asked
// for: the memory takes as long.
const ahead = 2

// fetchInput asks the memory system for the row of word i of the sentence, if
// there is one, as an input.
func (m *model) fetchInput(s *sentence, i int) {
	if i < len(s.words) {
		simd.PrefetchForUpdate(m.words, s.inputs[i:][:1], m.Dim)
	}
}
