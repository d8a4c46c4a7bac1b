package sequential

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A product trains all pairs of some rows of W (inputs) with some rows of C
// (outputs) at once, as three small matrix products:
//
//	S = L Rᵀ,  G = rate (positive - σ(S)),  L += G R and R += Gᵀ L
//
// with the rows' values of before. It counts the pairs and their loss, and owns
// the memory between the products.
type product struct {
	dim  int
	rate float32

	soon                 []uint32 // inputs that the next product needs, to be fetched on the way; nil: none
	scores, coefficients []float32
	workspace            simd.Workspace

	loss  simd.Loss
	pairs int
}

// train trains inputs, rows of left, with outputs, rows of right. kinds says
// for each pair, (inputs, outputs) in row-major order, if it is simd.Positive or
// simd.Negative. next are outputs that a product needs soon, to be fetched on
// the way.
func (p *product) train(left []float32, inputs []uint32, right []float32, outputs, kinds, next []uint32) {
	coefficients := p.gradients(left, inputs, right, outputs, kinds)
	p.workspace.Update(left, inputs, right, outputs, coefficients, p.dim, next)
}

// gradients does the first two of the three products and returns G.
func (p *product) gradients(left []float32, inputs []uint32, right []float32, outputs, kinds []uint32) []float32 {
	pairs := len(inputs) * len(outputs)
	p.scores, p.coefficients = memory.Resize(p.scores, pairs), memory.Resize(p.coefficients, pairs)
	if p.soon == nil {
		simd.Scores(p.scores, left, inputs, right, outputs, p.dim)
	} else {
		p.scoresAndNext(left, inputs, right, outputs)
	}
	simd.Gradients(p.coefficients, p.scores, kinds[:pairs], -p.rate, &p.loss)
	p.pairs += pairs
	return p.coefficients
}

// scoresAndNext computes the scores of a few inputs at a time, and asks for as many of the
// next product in between: the memory system takes no more requests at once.
func (p *product) scoresAndNext(left []float32, inputs []uint32, right []float32, outputs []uint32) {
	const few = 4
	soon, scores := p.soon, p.scores
	p.soon = nil
	for len(inputs) > 0 {
		n, ahead := min(few, len(inputs)), min(few, len(soon))
		simd.Scores(scores, left, inputs[:n], right, outputs, p.dim)
		simd.PrefetchForUpdate(left, soon[:ahead], p.dim)
		inputs, scores, soon = inputs[n:], scores[n*len(outputs):], soon[ahead:]
	}
	simd.PrefetchForUpdate(left, soon, p.dim)
}

// firstPositive returns the kinds of a product in which the first of the outputs
// is the target of all inputs and the others are negatives.
func firstPositive(inputs, outputs int) []uint32 {
	kinds := make([]uint32, inputs*outputs)
	for i := range inputs {
		kinds[i*outputs] = simd.Positive
	}
	return kinds
}
