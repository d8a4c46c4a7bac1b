package sequential

import (
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// PSGNScc names pSGNScc (Rengasamy et al. 2017).
const PSGNScc Algorithm = "psgnscc"

var pSGNSccDescriptor = Descriptor{
	Name: PSGNScc, Help: "several windows in one product",
	// A product of several windows takes a longer step (benchmarks/recipes).
	Recipe: Recipe{LearningRate: 0.05},

	spans: true, wordBytes: 8, spanBytes: 12, // left; words and places
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
	now, soon combined    // the product to train, and the next one
	kinds     [][]uint32  // by output o: those of the pairs of 2W inputs whose target is o
	chosen    []chosen    // windows of the next product
	words     []spanned   // of the span
	places    []int32     // of the words of the span: those of a word side by side, in order
	left      []places    // by word: those whose windows are left to train
	t         int         // the first window that may be left
	begins    []beginning // of the sentences
	at        int         // the sentence of t
}

// A spanned word is one of the span. Its window has so many words before and behind it.
type spanned struct {
	word          uint32
	before, after uint16
}

// places are some of those of a word in the span: next ... end-1 of pSGNScc.places.
type places struct{ next, end int32 }

// A beginning is where a sentence begins, in the span and as a token of the text.
type beginning struct{ span, text int }

// A chosen window is that of word t of the span, with output o as target.
type chosen struct {
	t, o int
	spanned
}

// A combined product is that of several windows.
type combined struct{ inputs, outputs, kinds []uint32 }

func newPSGNScc(m *model) *pSGNScc {
	m.drawAtMost(m.Negatives)
	p := &pSGNScc{model: m, left: make([]places, m.noise.Len())}
	for o := range 1 + m.Negatives {
		ofInput := make([]uint32, 1+m.Negatives)
		ofInput[o] = simd.Positive
		p.kinds = append(p.kinds, slices.Repeat(ofInput, 2*m.Window))
	}
	return p
}

// train adds a sentence to the span.
func (p *pSGNScc) train(s *sentence) {
	if len(p.words)+len(s.words) > p.Span {
		p.flush()
	}
	p.begins = append(p.begins, beginning{len(p.words), s.first})
	for i, word := range s.words {
		width := int(s.widths[i])
		p.words = append(p.words, spanned{word, uint16(min(width, i)), uint16(min(width, len(s.words)-1-i))})
	}
}

// flush trains all windows of the span.
func (p *pSGNScc) flush() {
	p.list()
	p.plan(&p.soon)
	for len(p.soon.inputs) > 0 {
		p.now, p.soon = p.soon, p.now
		p.plan(&p.soon)
		p.product.soon = p.soon.inputs
		p.step(p.model.words, p.now.inputs, p.now.outputs, p.now.kinds, p.soon.outputs)
	}
	p.words, p.begins = p.words[:0], p.begins[:0]
}

func (p *pSGNScc) list() {
	const counted = -1 // end is a count as yet
	for _, w := range p.words {
		of := &p.left[w.word]
		if of.next != counted {
			*of = places{next: counted}
		}
		of.end++
	}
	p.places = memory.Resize(p.places, len(p.words))
	start := int32(0)
	for t, w := range p.words {
		of := &p.left[w.word]
		if of.next == counted {
			start, *of = start+of.end, places{start, start}
		}
		p.places[of.end] = int32(t)
		of.end++
	}
	p.t, p.at = 0, 0
}

// plan takes the windows of the next product. Without inputs there are none left.
func (p *pSGNScc) plan(c *combined) {
	c.inputs, c.kinds = c.inputs[:0], c.kinds[:0]
	for ; p.t < len(p.words) && len(c.inputs) == 0; p.t++ {
		// All windows of the word before t have been taken.
		w := p.words[p.t]
		if of := &p.left[w.word]; of.next < of.end && p.places[of.next] == int32(p.t) {
			of.next++
			if w.before+w.after > 0 {
				p.draw(c, p.t)
				p.combine(c, chosen{p.t, 0, w})
			}
		}
	}
	if len(c.inputs) > 0 {
		p.copies.rows(c.outputs)
	}
}

func (p *pSGNScc) draw(c *combined, t int) {
	for p.at+1 < len(p.begins) && p.begins[p.at+1].span <= t {
		p.at++
	}
	s, word := p.begins[p.at], p.words[t].word
	c.outputs = memory.Resize(c.outputs, 1+p.Negatives)
	c.outputs[0] = word
	p.negatives.draw(c.outputs[1:], p.negatives.number(s.text, t-s.span), word)
}

// combine makes the product of a window and others.
func (p *pSGNScc) combine(c *combined, w chosen) {
	p.chosen = append(p.chosen[:0], w)
	p.choose(c.outputs)
	// The windows are far from each other. So the memory is asked for all of them at once.
	for i := range p.chosen {
		p.chosen[i].spanned = p.words[p.chosen[i].t]
	}
	width := 1 + p.Negatives
	for _, w := range p.chosen {
		for _, x := range p.words[w.t-int(w.before) : w.t] {
			c.inputs = append(c.inputs, x.word)
		}
		for _, x := range p.words[w.t+1:][:w.after] {
			c.inputs = append(c.inputs, x.word)
		}
		c.kinds = append(c.kinds, p.kinds[w.o][:int(w.before+w.after)*width]...)
	}
}

// choose takes windows of words that are outputs.
func (p *pSGNScc) choose(outputs []uint32) {
	for found := true; found; {
		found = false
		for o, word := range outputs {
			if len(p.chosen) == p.Combine {
				return
			}
			if of := &p.left[word]; of.next < of.end && once(outputs, word) {
				p.chosen = append(p.chosen, chosen{t: int(p.places[of.next]), o: o})
				of.next++
				found = true
			}
		}
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
