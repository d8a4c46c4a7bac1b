package corpus

import (
	"slices"

	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A Sampling says what is drawn at random when a text is read: which tokens
// subsampling leaves, and how wide the window of each is (Mikolov et al. 2013).
type Sampling struct {
	Seed    uint64
	Sample  float64 // subsampling threshold, see KeepThresholds; 0: keep all
	Window  int     // words on either side
	Dynamic bool    // draw the width of each window from 1 ... Window
}

// A Sampler reads the sentences of a text as a Sampling has them. What it draws
// for token i of the text in a pass follows from the two numbers: word i (lane
// i%4 of block i/4) of StreamSubsample.Sub(pass) and of StreamWindow.Sub(pass).
// So sentences may be read in any order. A Sampler serves one goroutine; Clone
// makes one for another.
type Sampler struct {
	corpus   *Corpus
	sampling Sampling
	keep     []uint32 // KeepThresholds; nil: keep all

	random, words, widths []uint32
}

// NewSampler returns a sampler of a text.
func NewSampler(c *Corpus, s Sampling) *Sampler {
	r := &Sampler{corpus: c, sampling: s}
	if s.Sample > 0 {
		r.keep = KeepThresholds(c.Vocabulary.Counts, s.Sample)
	}
	return r
}

// Clone returns a sampler that reads the same.
func (s *Sampler) Clone() *Sampler {
	return &Sampler{corpus: s.corpus, sampling: s.sampling, keep: s.keep}
}

// Sentence returns the words of a sentence that subsampling leaves in a pass
// and, if windows are dynamic, how wide the window of each is; widths is nil
// otherwise. The slices are good until the next call and are not to be
// changed.
func (s *Sampler) Sentence(pass uint32, sentence int) (words, widths []uint32) {
	first, last := s.corpus.Sentences[sentence], s.corpus.Sentences[sentence+1]
	words = s.corpus.Tokens[first:last]
	if s.sampling.Dynamic {
		s.widths = resize(s.widths, len(words))
		widths = s.widths
		for i, random := range s.draw(StreamWindow.Sub(pass), first, len(words)) {
			widths[i] = 1 + Below(random, uint32(s.sampling.Window))
		}
	}
	if s.keep == nil {
		return words, widths
	}
	s.words = resize(s.words, len(words))
	kept := 0
	for i, random := range s.draw(StreamSubsample.Sub(pass), first, len(words)) {
		word := words[i]
		s.words[kept] = word
		if widths != nil {
			widths[kept] = widths[i]
		}
		// Without a branch, which nobody could predict: one more if random is
		// at most the threshold.
		kept += int((uint64(random) - uint64(s.keep[word]) - 1) >> 63)
	}
	if widths != nil {
		widths = widths[:kept]
	}
	return s.words[:kept], widths
}

// draw returns n words of a stream, from word first on.
func (s *Sampler) draw(stream Stream, first, n int) []uint32 {
	skip := first % 4
	s.random = resize(s.random, skip+n)
	simd.Philox(s.random, s.sampling.Seed, uint64(stream), uint64(first/4))
	return s.random[skip:]
}

// resize returns a slice of length n in the memory of x if that is enough.
func resize(x []uint32, n int) []uint32 { return slices.Grow(x[:0], n)[:n] }
