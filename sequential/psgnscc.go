package sequential

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// PSGNScc names pSGNScc (Rengasamy et al. 2017).
const PSGNScc Algorithm = "psgnscc"

var pSGNSccDescriptor = Descriptor{
	Name: PSGNScc, Help: "several windows in one product",
	spans: true, wordBytes: 4, spanBytes: 4 + 12, // first; words and places
	create: func(m *model) algorithm { return newPSGNScc(m) },
}

// pSGNScc combines several windows in one product (Rengasamy et al. 2017, "context
// combining"). The window of word t has the outputs t and K negatives, as in
// pWord2Vec. Where one of these is itself a word further on in the span, that word's
// window is trained in the same product: its context words are inputs, too, with that
// output as their target and the other outputs as their negatives.
//
//	for each word t of the span whose window has not been trained:
//		draw negatives n_1 ... n_K
//		for each output o in {t, n_1, ..., n_K}, round after round:
//			take the next window of a word o after t, not yet trained,
//			until there are Combine windows or no more
//		train all their context words with {t, n_1, ..., n_K} as one product
//
// A span is as many whole sentences of a thread as have Span words after subsampling;
// windows end with their sentence. The published code goes on in the middle of a
// sentence, and counts a pair as often as its output was drawn.
type pSGNScc struct {
	*model
	now, soon combined // the product to train, and the next one
	patterns  []uint32 // (1+K, 1+K): the kinds of the pairs of an input whose target is output o

	words     []uint32 // of the span
	places    []place  // of each of them
	sentences []spanned
	t         int     // the first window that may be left to train
	at        int     // its sentence
	first     []int32 // by word: the first place of the word whose window is left to train, -1 none
}

// A place is that of a word of the span: its window is words[left:right] without
// itself. next is the next place of the same word, or -1.
type place struct{ next, left, right int32 }

// A spanned sentence is one of the span: its first word there, and its first token in
// the text.
type spanned struct{ start, first int }

// A combined product is that of several windows.
type combined struct{ inputs, outputs, kinds []uint32 }

func newPSGNScc(m *model) *pSGNScc {
	m.drawAtMost(m.Negatives)
	p := &pSGNScc{model: m, first: make([]int32, m.noise.Len())}
	for i := range p.first {
		p.first[i] = -1
	}
	for o := range 1 + m.Negatives {
		pattern := make([]uint32, 1+m.Negatives)
		pattern[o] = simd.Positive
		p.patterns = append(p.patterns, pattern...)
	}
	return p
}

// train adds a sentence to the span.
func (p *pSGNScc) train(s *sentence) {
	if len(p.words)+len(s.words) > p.Span {
		p.flush()
	}
	start := len(p.words)
	p.sentences = append(p.sentences, spanned{start, s.first})
	p.words = append(p.words, s.words...)
	for i, width := range s.widths {
		p.places = append(p.places, place{
			left: int32(start + max(i-int(width), 0)), right: int32(start + min(i+int(width)+1, len(s.words))),
		})
	}
}

// flush trains all windows of the span.
func (p *pSGNScc) flush() {
	p.list()
	p.plan(&p.soon)
	for len(p.soon.inputs) > 0 {
		p.now, p.soon = p.soon, p.now
		p.plan(&p.soon)
		simd.PrefetchForUpdate(p.model.words, p.soon.inputs, p.Dim)
		p.step(p.model.words, p.now.inputs, p.now.outputs, p.now.kinds, p.soon.outputs)
	}
	p.words, p.places, p.sentences = p.words[:0], p.places[:0], p.sentences[:0]
}

// list makes the lists of places, from which windows are taken.
func (p *pSGNScc) list() {
	for i := len(p.words) - 1; i >= 0; i-- {
		first := &p.first[p.words[i]]
		p.places[i].next, *first = *first, int32(i)
	}
	p.t, p.at = 0, 0
}

// plan takes the windows of the next product. Without inputs there are none left.
func (p *pSGNScc) plan(c *combined) {
	c.inputs, c.kinds = c.inputs[:0], c.kinds[:0]
	for ; p.t < len(p.words) && len(c.inputs) == 0; p.t++ {
		// All windows of the word before t have been trained, so its own is the first.
		if p.first[p.words[p.t]] == int32(p.t) {
			p.take(c, p.words[p.t], 0)
		}
	}
	if len(c.inputs) == 0 {
		return
	}
	p.draw(c, p.t-1)
	p.combine(c)
	p.copies.rows(c.outputs)
}

// draw draws the outputs of the window of word t of the span.
func (p *pSGNScc) draw(c *combined, t int) {
	for p.at+1 < len(p.sentences) && p.sentences[p.at+1].start <= t {
		p.at++
	}
	s := p.sentences[p.at]
	c.outputs = memory.Resize(c.outputs, 1+p.Negatives)
	c.outputs[0] = p.words[t]
	p.negatives.draw(c.outputs[1:], p.negatives.number(s.first, t-s.start), p.words[t])
}

// combine adds windows of words that are outputs to the product.
func (p *pSGNScc) combine(c *combined) {
	windows := 1
	for found := true; found; {
		found = false
		for o, word := range c.outputs {
			if windows == p.Combine {
				return
			}
			if p.first[word] >= 0 && once(c.outputs, word) {
				p.take(c, word, o)
				windows++
				found = true
			}
		}
	}
}

// take adds the first window that is left of a word, which is output number o.
func (p *pSGNScc) take(c *combined, word uint32, o int) {
	t := p.first[word]
	at := &p.places[t]
	p.first[word] = at.next
	c.inputs = append(c.inputs, p.words[at.left:t]...)
	c.inputs = append(c.inputs, p.words[t+1:at.right]...)
	width := 1 + p.Negatives
	for range at.right - at.left - 1 {
		c.kinds = append(c.kinds, p.patterns[o*width:][:width]...)
	}
}

// once reports whether a word is an output once only: a window whose target
// came twice would have it as a negative, too.
func once(outputs []uint32, word uint32) bool {
	n := 0
	for _, o := range outputs {
		if o == word {
			n++
		}
	}
	return n == 1
}
