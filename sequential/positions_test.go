package sequential

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

// A window moves W, C and D against the gradient of its loss: central differences
// of the loss as the paper writes it, in float64.
func TestPositionGradients(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, dim := range []int{1, 5, 16, 33} {
		c := Options{Algorithm: Word2Vec, Model: PositionCBOW, Dim: dim, Window: 3, Negatives: 2, Epochs: 1, Seed: 1, Threads: 1}
		tr := newTrainer(t, corpustest.Zipf(seed, 500, 20, 0), c)
		for _, s := range tr.State() {
			for i := range s.Data {
				s.Data[i] = float32(r.NormFloat64()) / 2
			}
		}
		b := tr.workers[0].algorithm.(*positionCBOW)
		b.rate = 1
		const left = 2 // words before the target, of a window of 3
		b.inputs = []uint32{3, 4, 5, 3, 6}
		outputs := []uint32{7, 8, 9} // the target, and negatives
		before := [][]float64{wide(tr.words), wide(tr.contexts), wide(tr.positions)}
		loss := func(words, contexts, positions []float64) float64 {
			h, sum := make([]float64, dim), 0.0
			for i, word := range b.inputs {
				for j := range h {
					h[j] += positions[(c.Window-left+i)*dim+j] * words[int(word)*dim+j] / float64(len(b.inputs))
				}
			}
			for k, o := range outputs {
				score := 0.0
				for j := range h {
					score += h[j] * contexts[int(o)*dim+j]
				}
				if k > 0 {
					score = -score
				}
				sum += math.Log1p(math.Exp(-score))
			}
			return sum
		}
		b.trainWindow(b.own[(b.Window-left)*dim:], outputs, b.kinds, nil)
		for which, now := range [][]float32{tr.words, tr.contexts, tr.positions} {
			times := 1.0
			if which == 0 { // as in word2vec.c: the whole step
				times = float64(len(b.inputs))
			}
			tables := [][]float64{slices.Clone(before[0]), slices.Clone(before[1]), slices.Clone(before[2])}
			for i, x := range before[which] {
				const step = 1e-4
				tables[which][i] = x + step
				above := loss(tables[0], tables[1], tables[2])
				tables[which][i] = x - step
				below := loss(tables[0], tables[1], tables[2])
				tables[which][i] = x
				want := -times * (above - below) / (2 * step)
				if got := float64(now[i]) - x; math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("dimension %d, table %d: value %d moves by %v, want %v", dim, which, i, got, want)
				}
			}
		}
	}
}

// Ones stay CBOW: a window whose D is ones gives the same W and C.
func TestPositionsOfOnes(t *testing.T) {
	text := corpustest.Zipf(1, 300, 50, 0)
	c := Options{Algorithm: Word2Vec, Model: CBOW, Dim: 16, Window: 3, Negatives: 3, Epochs: 1, Seed: 3, Threads: 1}
	plain := newTrainer(t, text, c)
	c.Model = PositionCBOW
	weighted := newTrainer(t, text, c)
	for _, tr := range []*Trainer{plain, weighted} {
		r := rand.New(rand.NewPCG(5, 6))
		for i := range tr.contexts {
			tr.contexts[i] = float32(r.NormFloat64()) / 8
		}
		w := tr.workers[0]
		w.begin(0, 0.05)
	}
	p, q := plain.workers[0].algorithm.(*cbow), weighted.workers[0].algorithm.(*positionCBOW)
	p.inputs, q.inputs = []uint32{1, 2, 3}, []uint32{1, 2, 3}
	p.trainMean([]uint32{4, 5}, p.kinds, nil)
	q.trainWindow(q.own, []uint32{4, 5}, q.kinds, nil)
	checkTable(t, "W", weighted.words, wide(plain.words))
	checkTable(t, "C", weighted.contexts, wide(plain.contexts))
}
