package sequential

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// PARW2V names PAR-Word2Vec.
const PARW2V Algorithm = "parw2v"

var parW2VDescriptor = Descriptor{
	Name: PARW2V, Help: "attraction, then repulsion in mini-batches, eight negatives at a time",
	Recipe:   Recipe{LearningRate: 0.03}, // at 0.025, MEN and RW are lower than with the other algorithms
	Composes: true,
	create:   func(m *model) algorithm { return newPARW2V(m) },
}

// parW2V is PAR-Word2Vec (section V): per sentence, first the attraction of all
// positive pairs, then the repulsion of negatives, in mini-batches of B words
// that share H negatives.
//
//	attraction (algorithm 3): for each word t of the sentence, with context words
//	c_1 ... c_m of a dynamic window:
//		g = rate (1 - σ(W[c]·C_t)),  W[c] += g C_t,  C_t += Σ g W[c]
//	repulsion (algorithm 4): for each B words b of the sentence:
//		draw c, and H = K c negatives
//		for each eight of them, n:
//			G = -rate σ(W[b] C[n]ᵀ)             (B, 8)
//			W[b] += G C[n],  C[n] += Gᵀ W[b]
//
// The pairs of one window are attracted at once, with the rows of before. The
// paper draws c below the window, and below its double for batches that begin
// inside the sentence, where words have contexts on both sides; c = 0, which
// would skip a batch, is not drawn here: c is 1 ... W, or 1 ... 2W. Negatives
// come from the noise distribution, where the paper draws them uniformly.
// They may be words of the batch. In the paper all H meet the rows of
// before; with up to 2 W K of them their sum is too long a step, and training
// diverges with windows of 10 and 15 negatives at rate 0.05.
type parW2V struct {
	*model
	inputs              []uint32
	targets             []uint32 // of the sentence, as rows of C
	drawn, soon         []uint32 // negatives of this batch and the next
	attracted, repelled []uint32 // kinds: positives only, negatives only
}

// repelledAtOnce is how many negatives meet the rows of a batch as they were before. The CUDA
// kernels have the same.
const repelledAtOnce = 8

func newPARW2V(m *model) *parW2V {
	most := 2 * m.Window * m.Negatives
	m.drawAtMost(1 + most) // one to draw c
	p := &parW2V{model: m, attracted: make([]uint32, 2*m.Window), repelled: make([]uint32, m.Batch*repelledAtOnce)}
	for i := range p.attracted {
		p.attracted[i] = simd.Positive
	}
	return p
}

func (p *parW2V) train(s *sentence) {
	p.attract(s)
	p.drawn = p.draw(p.drawn, s, 0)
	for first := 0; first < len(s.words); first += p.Batch {
		p.soon = p.draw(p.soon, s, first+p.Batch)
		batch := s.inputs[first:min(first+p.Batch, len(s.words))]
		for from := 0; from < len(p.drawn); from += repelledAtOnce {
			next := p.soon[min(from, len(p.soon)):min(from+repelledAtOnce, len(p.soon))]
			p.step(p.words, batch, p.drawn[from:min(from+repelledAtOnce, len(p.drawn))], p.repelled, next)
		}
		p.drawn, p.soon = p.soon, p.drawn
	}
}

func (p *parW2V) attract(s *sentence) {
	p.targets = append(p.targets[:0], s.words...)
	p.copies.rows(p.targets)
	for t := range s.words {
		p.fetchInput(s, t+ahead+p.Window)
		if next := t + ahead; next < len(s.words) {
			simd.PrefetchForUpdate(p.contexts, p.targets[next:][:1], p.Dim)
		}
		p.inputs = s.window(p.inputs[:0], t)
		// The target is the left row of the product here: so the kernels have
		// many rights, for which they are made.
		target := p.targets[t:][:1]
		p.product.train(p.contexts, target, p.words, p.inputs, p.attracted, nil)
		p.copies.used(target)
	}
}

// draw draws the negatives of the batch that begins with word first; none after
// the sentence's end.
func (p *parW2V) draw(dst []uint32, s *sentence, first int) []uint32 {
	if first >= len(s.words) {
		return dst[:0]
	}
	window := 2 * p.Window
	if first < p.Window || len(s.words)-1-first < p.Window {
		window = p.Window
	}
	bits := p.negatives.random(p.negatives.number(s.first, first), 1+window*p.Negatives)
	dst = memory.Resize(dst, p.Negatives*(1+int(corpus.Below(bits[0], uint32(window)))))
	for k := range dst {
		dst[k] = p.noise.Draw(bits[1+k])
	}
	p.copies.rows(dst)
	return dst
}
