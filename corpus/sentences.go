package corpus

import (
	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// SentenceOptions says which random choices are made as a text is read: the tokens
// that subsampling keeps, and the width of each window (Mikolov et al. 2013,
// "Distributed Representations of Words and Phrases", section 2.3, and word2vec.c).
type SentenceOptions struct {
	Seed    uint64
	Sample  float64 // threshold of subsampling, see KeepThresholds; 0 keeps every token
	Window  int     // words on either side
	Dynamic bool    // draw the width of each window from 1 ... Window
}

// A SentenceReader reads the sentences of a text after subsampling, with the widths
// of their windows. The random bits of token i in a pass follow from the two numbers:
//
//	Philox(Seed, StreamSubsample.Sub(pass), i/4)[i%4]
//	Philox(Seed, StreamWindow.Sub(pass), i/4)[i%4]
//
// So sentences may be read in any order. A SentenceReader serves one goroutine;
// Clone makes one for another.
type SentenceReader struct {
	text    *Text
	window  *encoded.Window
	options SentenceOptions
	keep    []uint32 // KeepThresholds; nil: keep all
	first   int      // number of the text's first token in a longer one

	bits, words, widths []uint32
	ahead               encoded.Ahead
}

// NewSentenceReader returns a reader of the sentences of c.
func NewSentenceReader(c *Corpus, o SentenceOptions) *SentenceReader {
	text := c.Text()
	r := &SentenceReader{text: text, window: text.Window(), options: o}
	if o.Sample > 0 {
		r.keep = KeepThresholds(c.Vocabulary.Counts, o.Sample)
	}
	return r
}

// Clone returns a reader of the same sentences.
func (r *SentenceReader) Clone() *SentenceReader {
	return &SentenceReader{text: r.text, window: r.text.Window(), options: r.options, keep: r.keep, first: r.first}
}

// From returns a reader of the same sentences as part of a longer text, in which their
// first token has the number first.
func (r *SentenceReader) From(first int) *SentenceReader {
	part := r.Clone()
	part.first = first
	return part
}

// Sentence returns the n words that subsampling keeps of a sentence in a pass. If
// windows are dynamic, widths holds the width of each word's window, n of them;
// otherwise it is nil. The slices are valid until the next call; do not change
// them.
func (r *SentenceReader) Sentence(pass uint32, sentence int) (words, widths []uint32) {
	if r.text.InFile() {
		r.window.Sentences(sentence, sentence+1)
	}
	first, end := r.text.Start(sentence), r.text.Start(sentence+1)
	return r.choose(pass, first, r.text.ReadAhead(first, end, &r.ahead))
}

// Tokens is Sentence for the tokens first ... end-1, which are of one sentence, for readers that jump about in the text.
func (r *SentenceReader) Tokens(pass uint32, first, end int) (words, widths []uint32) {
	return r.choose(pass, first, r.text.Section(first, end, &r.ahead))
}

// choose draws widths and subsampling for words that start at token first.
func (r *SentenceReader) choose(pass uint32, first int, words []uint32) (_, widths []uint32) {
	if r.options.Dynamic {
		r.widths = memory.Resize(r.widths, len(words))
		widths = r.widths
		for i, bits := range r.draw(StreamWindow.Sub(pass), first, len(words)) {
			widths[i] = 1 + Below(bits, uint32(r.options.Window))
		}
	}
	if r.keep == nil {
		return words, widths
	}
	r.words = memory.Resize(r.words, len(words))
	kept := 0
	for i, bits := range r.draw(StreamSubsample.Sub(pass), first, len(words)) {
		word := words[i]
		r.words[kept] = word
		if widths != nil {
			widths[kept] = widths[i]
		}
		// kept grows by one if bits is at most the threshold. There is no branch,
		// because no processor could predict it.
		kept += int((uint64(bits) - uint64(r.keep[word]) - 1) >> 63)
	}
	if widths != nil {
		widths = widths[:kept]
	}
	return r.words[:kept], widths
}

// draw returns 32 random bits of a stream for each of the tokens first ... first+n-1.
func (r *SentenceReader) draw(stream Stream, first, n int) []uint32 {
	first += r.first
	skip := first % 4
	r.bits = memory.Resize(r.bits, (skip+n+simd.PhiloxNumbers-1)/simd.PhiloxNumbers*simd.PhiloxNumbers)
	simd.Philox(r.bits, r.options.Seed, uint64(stream), uint64(first/4))
	return r.bits[skip : skip+n]
}
