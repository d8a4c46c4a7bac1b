package sequential

import "github.com/w2vcl/w2vcl/kernels/simd"

// Hierarchical softmax takes the place of negatives in word2vec (Options.HierarchicalSoftmax):
// the outputs of a window are the inner nodes on the path to its word in the Huffman tree,
// and each is right or wrong, as the path turns.
//
//	for each node v on the path to word t, with code d:
//		W_c += rate (1 - d - σ(h·v)) v
//		v   += rate (1 - d - σ(h·v)) h
//
// The table of nodes has the place of C, which stays zero. Its copies are those of the
// nodes near the root, through which most paths go.

// paths are the outputs of all windows of a sentence, one window behind the other.
type paths struct {
	rows, kinds []uint32 // nodes, and whether h·v should be high
	ends        []int    // of each window
}

// drawPaths makes the outputs of all windows of a sentence. σ is the probability of code 0.
func (m *model) drawPaths(s *sentence) {
	p := &m.paths
	p.rows, p.kinds, p.ends = p.rows[:0], p.kinds[:0], p.ends[:0]
	for _, word := range s.words {
		for _, step := range m.tree.path(word) {
			p.rows = append(p.rows, step&^turn)
			p.kinds = append(p.kinds, step&turn^simd.Positive)
		}
		p.ends = append(p.ends, len(p.rows))
	}
	m.copies.rows(p.rows)
}

// of returns where the outputs of window t are; nowhere after the sentence's end.
func (p *paths) of(t int) (first, end int) {
	if t >= len(p.ends) {
		return 0, 0
	}
	if t > 0 {
		first = p.ends[t-1]
	}
	return first, p.ends[t]
}

// hierarchicalSkipGram is the skip-gram model with hierarchical softmax: each context word of
// a window is trained with the path to the window's word.
type hierarchicalSkipGram struct {
	*model
	inputs []uint32
}

func (g *hierarchicalSkipGram) train(s *sentence) {
	g.drawOutputs(s)
	for t := range s.words {
		g.fetchInput(s, t+ahead+g.Window)
		g.inputs = s.window(g.inputs[:0], t)
		outputs, kinds := g.outputsOf(t), g.kindsOf(t, nil)
		for i := range g.inputs {
			var next []uint32
			if i == len(g.inputs)-1 {
				next = g.outputsOf(t + 1)
			}
			g.step(g.words, g.inputs[i:][:1], outputs, kinds, next)
		}
	}
}
