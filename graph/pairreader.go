package graph

import "github.com/w2vcl/w2vcl/corpus"

// A pairReader walks over the pairs of a word and a context of some sentences in the order of the
// text: for each position its contexts from left to right.
type pairReader struct {
	sentences     *corpus.SentenceReader
	window        int // unless it is dynamic
	epoch         uint32
	sentence, end int

	words, widths []uint32 // of the current sentence, as the sampler gives them
	at            int      // position in words
	from, to      int      // next context and end of the window of at
}

// newPairReader returns a reader of the pairs of the sentences from number sentence to end - 1
// in an epoch. Windows have the given width, unless those of sentences are dynamic.
func newPairReader(sentences *corpus.SentenceReader, window int, epoch uint32, sentence, end int) *pairReader {
	return &pairReader{sentences: sentences, window: window, epoch: epoch, sentence: sentence, end: end}
}

// next returns the next pair; ok is false after the last.
func (p *pairReader) next() (word, context uint32, ok bool) {
	for {
		if p.from == p.at {
			p.from++
		}
		if p.from < p.to {
			p.from++
			return p.words[p.at], p.words[p.from-1], true
		}
		if !p.advance() {
			return 0, 0, false
		}
	}
}

// advance goes to the next position, in the next sentence that has one if
// need be.
func (p *pairReader) advance() bool {
	p.at++
	for p.at >= len(p.words) {
		p.at, p.from, p.to = 0, 0, 0
		if p.sentence == p.end {
			p.words = nil
			return false
		}
		p.words, p.widths = p.sentences.Sentence(p.epoch, p.sentence)
		p.sentence++
	}
	width := p.window
	if p.widths != nil {
		width = int(p.widths[p.at])
	}
	p.from, p.to = max(p.at-width, 0), min(p.at+width+1, len(p.words))
	return true
}
