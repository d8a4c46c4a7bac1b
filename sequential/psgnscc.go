package sequential

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// PSGNScc names pSGNScc (Rengasamy et al. 2017).
const PSGNScc Algorithm = "psgnscc"

var pSGNSccDescriptor = Descriptor{
	Name: PSGNScc, Help: "several windows in one product",
	wordBytes: 4, // places
	create:    func(m *model) algorithm { return newPSGNScc(m) },
}

// pSGNScc combines several windows of a sentence in one product (Rengasamy et
// al. 2017, "context combining"). The window of word t has the outputs t and K
// negatives, as in pWord2Vec. Where one of these is itself a word of the
// sentence further on, that word's window is trained in the same product: its
// context words are inputs, too, with that output as their target and the other
// outputs as their negatives.
//
//	for each word t of the sentence whose window has not been trained:
//		draw negatives n_1 ... n_K
//		for each output o in {t, n_1, ..., n_K}, round after round:
//			take the next window of a word o after t, not yet trained,
//			until there are Combine windows or no more
//		train all their context words with {t, n_1, ..., n_K} as one product
type pSGNScc struct {
	*model
	kinds, inputs []uint32

	// Places of words in the sentence, as lists: places[w] - 1 is the first
	// place of word w whose window may be left to train, next[i] the place
	// after i; 0 and -1 are the ends.
	places  []int32 // by word
	next    []int32 // by place
	trained []bool  // by place
}

func newPSGNScc(m *model) *pSGNScc {
	m.drawAtMost(m.Negatives)
	return &pSGNScc{model: m, places: make([]int32, m.noise.Len())}
}

func (p *pSGNScc) train(s *sentence) {
	p.drawOutputs(s)
	p.list(s)
	for t := range s.words {
		p.fetchInput(s, t+ahead+p.Window)
		if p.trained[t] {
			continue
		}
		outputs := p.outputsOf(t)
		p.inputs, p.kinds = p.inputs[:0], p.kinds[:0]
		p.add(s, t, 0)
		p.combine(s, outputs)
		p.step(p.words, p.inputs, outputs, p.kinds, p.outputsOf(t+ahead))
	}
	for _, word := range s.words {
		p.places[word] = 0
	}
}

// list makes the lists of places of a sentence.
func (p *pSGNScc) list(s *sentence) {
	p.next, p.trained = memory.Resize(p.next, len(s.words)), memory.Resize(p.trained, len(s.words))
	clear(p.trained)
	for i := len(s.words) - 1; i >= 0; i-- {
		word := s.words[i]
		p.next[i] = p.places[word] - 1
		p.places[word] = int32(i) + 1
	}
}

// combine adds windows of words that are outputs to the product.
func (p *pSGNScc) combine(s *sentence, outputs []uint32) {
	windows := 1
	for found := true; found; {
		found = false
		for o, row := range outputs {
			if windows == p.Combine {
				return
			}
			if place := p.take(p.copies.word(row)); place >= 0 && once(outputs, row) {
				p.add(s, place, o)
				windows++
				found = true
			}
		}
	}
}

// take returns the first place of a word whose window is not trained, or -1.
func (p *pSGNScc) take(word uint32) int {
	place := p.places[word] - 1
	for place >= 0 && p.trained[place] {
		place = p.next[place]
	}
	p.places[word] = place + 1
	return int(place)
}

// once reports whether a row is an output once only: a window whose target
// came twice would have it as a negative, too.
func once(outputs []uint32, row uint32) bool {
	n := 0
	for _, o := range outputs {
		if o == row {
			n++
		}
	}
	return n == 1
}

// add adds the window of word t, whose target is output number o.
func (p *pSGNScc) add(s *sentence, t, o int) {
	p.trained[t] = true
	before := len(p.inputs)
	p.inputs = s.window(p.inputs, t)
	for range len(p.inputs) - before {
		for k := range 1 + p.Negatives {
			kind := simd.Negative
			if k == o {
				kind = simd.Positive
			}
			p.kinds = append(p.kinds, kind)
		}
	}
}
