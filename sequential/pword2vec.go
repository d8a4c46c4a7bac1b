package sequential

// PWord2Vec names pWord2Vec (Ji et al. 2016).
const PWord2Vec Algorithm = "pword2vec"

var pWord2VecDescriptor = Descriptor{
	Name: PWord2Vec, Help: "negatives shared in a window",
	Composes: true,
	create:   func(m *model) algorithm { return newPWord2Vec(m) },
}

// pWord2Vec shares the K negatives of a window among all its context words
// (Ji et al. 2016, section III-B): a window is three small matrix products of
// its m context words (inputs) and 1+K outputs, and the updates land after it.
//
//	for each word t of the sentence, with context words c_1 ... c_m:
//		draw negatives n_1 ... n_K
//		S = W[c] C[t, n]ᵀ                       (m, 1+K)
//		G = rate (y - σ(S))                     y = 1 in column t, else 0
//		W[c] += G C[t, n],  C[t, n] += Gᵀ W[c]
type pWord2Vec struct {
	*model
	kinds, inputs []uint32
}

func newPWord2Vec(m *model) *pWord2Vec {
	m.drawAtMost(m.Negatives)
	return &pWord2Vec{model: m, kinds: firstPositive(2*m.Window, 1+m.Negatives)}
}

func (p *pWord2Vec) train(s *sentence) {
	p.drawOutputs(s)
	for t := range s.words {
		p.fetchInput(s, t+ahead+p.Window)
		p.inputs = s.window(p.inputs[:0], t)
		p.step(p.words, p.inputs, p.outputsOf(t), p.kinds, p.outputsOf(t+ahead))
	}
}
