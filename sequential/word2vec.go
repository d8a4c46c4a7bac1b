package sequential

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// Word2Vec names word2vec (Mikolov et al. 2013), as the published word2vec.c has
// it.
const Word2Vec Algorithm = "word2vec"

// CBOW predicts the target from the mean of the context words.
const CBOW Model = "cbow"

var word2VecDescriptor = Descriptor{
	Name: Word2Vec, Help: "skip-gram or CBOW, each pair with its own negatives",
	Models: []ModelDescriptor{
		{Name: SkipGram, Help: "skip-gram"},
		// As in word2vec.c: one step for a whole window.
		{Name: CBOW, Help: "continuous bag of words", Recipe: Recipe{LearningRate: 0.05, ContextWeight: 1}},
	},
	Composes: true,
	create: func(m *model) algorithm {
		switch {
		case m.Model == CBOW:
			return newCBOW(m)
		case m.tree != nil:
			return &hierarchicalSkipGram{model: m}
		default:
			return newSkipGram(m)
		}
	},
	Hierarchical: true,
}

// skipGram is the skip-gram model of word2vec: in each window, each context
// word (input) with the window's word (target) and K negatives of its own.
//
//	for each word t of the sentence, for each context word c of its window:
//		draw negatives n_1 ... n_K
//		h = W_c
//		W_c += Σ rate (y_o - σ(h·C_o)) C_o      o in {t, n_1, ..., n_K}
//		C_o += rate (y_o - σ(h·C_o)) h           y_t = 1, y_n = 0
//
// Both sums take the rows as they were before the pair. word2vec.c takes its
// outputs one by one, which differs only where a negative is drawn twice.
type skipGram struct {
	*model
	kinds     []uint32
	now, soon pairs // of this window and the next
	drawn     []uint32
}

// pairs are the pairs of one window: each of the inputs with a row of outputs.
type pairs struct {
	inputs  []uint32
	outputs []uint32 // (inputs, 1+K)
}

func newSkipGram(m *model) *skipGram {
	m.drawAtMost(2 * m.Window * m.Negatives)
	return &skipGram{model: m, kinds: firstPositive(1, 1+m.Negatives)}
}

func (g *skipGram) train(s *sentence) {
	g.draw(&g.soon, s, 0)
	for t := range s.words {
		g.now, g.soon = g.soon, g.now
		g.draw(&g.soon, s, t+1)
		g.fetchInput(s, t+ahead+g.Window)
		width := 1 + g.Negatives
		for i := range g.now.inputs {
			outputs := g.now.outputs[i*width:][:width]
			g.step(g.words, g.now.inputs[i:][:1], outputs, g.kinds, g.next(i+ahead))
		}
	}
}

// next returns the outputs of pair i, counted from the first of this window; it
// may be one of the next window.
func (g *skipGram) next(i int) []uint32 {
	width := 1 + g.Negatives
	outputs := g.now.outputs
	if i >= len(g.now.inputs) {
		i -= len(g.now.inputs)
		outputs = g.soon.outputs
	}
	if i*width >= len(outputs) {
		return nil
	}
	return outputs[i*width:][:width]
}

// draw makes the pairs of the window of word t; none after the sentence's end.
func (g *skipGram) draw(p *pairs, s *sentence, t int) {
	p.inputs, p.outputs = p.inputs[:0], p.outputs[:0]
	if t >= len(s.words) {
		return
	}
	p.inputs = s.window(p.inputs, t)
	g.drawn = memory.Resize(g.drawn, len(p.inputs)*g.Negatives)
	g.negatives.draw(g.drawn, g.negatives.number(s.first, t), s.words[t])
	for i := range p.inputs {
		p.outputs = append(p.outputs, s.words[t])
		p.outputs = append(p.outputs, g.drawn[i*g.Negatives:][:g.Negatives]...)
	}
	g.copies.rows(p.outputs)
}

// cbow is the continuous bag of words of word2vec: the mean of the context words
// of a window (input) with the window's word (target) and K negatives.
//
//	for each word t of the sentence, with m context words c:
//		draw negatives n_1 ... n_K
//		h = 1/m Σ W_c
//		C_o += rate (y_o - σ(h·C_o)) h
//		W_c += Σ rate (y_o - σ(h·C_o)) C_o       for every c
//
// As in word2vec.c, the step of the mean goes to each context word whole, not
// divided by m.
type cbow struct {
	*model
	kinds, inputs []uint32
	weights       []float32 // 1/m, m times
	mean, step    []float32 // N
}

func newCBOW(m *model) *cbow {
	m.drawAtMost(m.Negatives)
	return &cbow{
		model: m, kinds: firstPositive(1, 1+m.Negatives), mean: make([]float32, m.Dim), step: make([]float32, m.Dim),
	}
}

func (b *cbow) train(s *sentence) {
	b.drawOutputs(s)
	for t := range s.words {
		b.fetchInput(s, t+ahead+b.Window)
		b.inputs = s.window(b.inputs[:0], t)
		if len(b.inputs) > 0 {
			b.trainMean(b.outputsOf(t), b.kindsOf(t, b.kinds), b.outputsOf(t+ahead))
		}
	}
}

func (b *cbow) trainMean(outputs, kinds, next []uint32) {
	row := []uint32{0} // the only one of b.mean
	b.weights = memory.Resize(b.weights, len(b.inputs))
	for i := range b.weights {
		b.weights[i] = 1 / float32(len(b.inputs))
	}
	simd.Combine(b.mean, b.weights, b.words, b.inputs)
	coefficients := b.gradients(b.mean, row, b.contexts, outputs, kinds)
	simd.Combine(b.step, coefficients, b.contexts, outputs)
	b.workspace.Update(b.mean, row, b.contexts, outputs, coefficients, b.Dim, next)
	b.copies.used(outputs)
	for _, c := range b.inputs {
		simd.AddScaled(b.words[int(c)*b.Dim:][:b.Dim], b.step, 1)
	}
}
