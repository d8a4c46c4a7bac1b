package wordcontext

import (
	"context"
	"slices"
	"sort"

	"github.com/w2vcl/w2vcl/corpus"
)

// A scan visits the sentences of the corpus, pass after pass, as the windows
// see them: without the tokens that subsampling drops.
type scan struct {
	corpus     *corpus.Corpus
	options    *Options
	thresholds []uint32 // corpus.KeepThresholds, nil without subsampling
	progress   *progress
}

func newScan(c *corpus.Corpus, o *Options, p *progress) *scan {
	s := &scan{corpus: c, options: o, progress: p}
	if o.Sample > 0 {
		s.thresholds = corpus.KeepThresholds(c.Vocabulary.Counts, o.Sample)
	}
	return s
}

// A span is a range of visits. Visit number p·S + s is that of sentence s in
// pass p, for S sentences.
type span struct{ from, to int }

// split cuts all visits into at most n spans of about equal numbers of tokens.
func (s *scan) split(n int) []span {
	sentences, tokens := len(s.corpus.Sentences)-1, len(s.corpus.Tokens)
	total := tokens * s.options.Passes
	spans := make([]span, 0, n)
	from := 0
	for k := 1; k <= n; k++ {
		at := int(float64(total) * (float64(k) / float64(n)))
		to := sentences * s.options.Passes
		if k < n {
			to = at/tokens*sentences + sort.SearchInts(s.corpus.Sentences, at%tokens)
		}
		if to > from {
			spans = append(spans, span{from, to})
			from = to
		}
	}
	return spans
}

// visitTokens is how many tokens are visited between two looks at the context.
const visitTokens = 1 << 16

// each calls visit for every sentence of the span with the words that
// subsampling leaves and, if windows are dynamic, the size of each word's
// window (nil otherwise). Both slices are only valid during the call.
func (s *scan) each(ctx context.Context, sp span, visit func(words, sizes []uint32)) error {
	bounds := s.corpus.Sentences
	sentences := len(bounds) - 1
	var words, sizes []uint32
	visited := 0
	for v := sp.from; v < sp.to; v++ {
		pass, sentence := v/sentences, v%sentences
		from, to := bounds[sentence], bounds[sentence+1]
		if s.thresholds == nil && !s.options.DynamicWindow {
			words = s.corpus.Tokens[from:to]
		} else {
			words, sizes = s.draw(uint32(pass), from, to, words[:0], sizes[:0])
		}
		visit(words, sizes)
		if visited += to - from; visited >= visitTokens || v == sp.to-1 {
			s.progress.add(int64(visited))
			visited = 0
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw returns those of the tokens from ... to-1 that the pass keeps and, for
// dynamic windows, the sizes of their windows. It writes to the given slices if
// they are large enough.
func (s *scan) draw(pass uint32, from, to int, words, sizes []uint32) (_, _ []uint32) {
	seed, dynamic, largest := s.options.Seed, s.options.DynamicWindow, uint32(s.options.Window)
	words = slices.Grow(words, to-from)[:to-from]
	if dynamic {
		sizes = slices.Grow(sizes, to-from)[:to-from]
	}
	var keep, size [4]uint32 // of four tokens, whose indices differ in the low two bits
	kept := 0
	for i := from; i < to; i++ {
		if i == from || i%4 == 0 {
			if s.thresholds != nil {
				keep = corpus.Philox(seed, corpus.StreamSubsample.Sub(pass), uint64(i)/4)
			}
			if dynamic {
				size = corpus.Philox(seed, corpus.StreamWindow.Sub(pass), uint64(i)/4)
			}
		}
		word := s.corpus.Tokens[i]
		words[kept] = word
		if dynamic {
			sizes[kept] = 1 + corpus.Below(size[i%4], largest)
		}
		if s.thresholds == nil || keep[i%4] <= s.thresholds[word] {
			kept++
		}
	}
	if dynamic {
		sizes = sizes[:kept]
	}
	return words[:kept], sizes
}

// window returns the bounds first ... last of the window of position t in a
// sentence of n words. The contexts of t are the words there but t itself.
func window(t, n, size int) (first, last int) {
	return max(t-size, 0), min(t+size, n-1)
}

// count adds to counts, by word, how many contexts each word of the sentence
// has, and, if found is not nil, to found how often each word is a context.
// sizes may be nil: every window has the given size.
func count(words, sizes []uint32, size int, counts, found []uint64) {
	for t, word := range words {
		if sizes != nil {
			size = int(sizes[t])
		}
		first, last := window(t, len(words), size)
		counts[word] += uint64(last - first)
		if found == nil {
			continue
		}
		for _, context := range words[first : last+1] {
			found[context]++
		}
		found[word]-- // it is no context of itself
	}
}
