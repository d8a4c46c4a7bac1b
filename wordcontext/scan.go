package wordcontext

import (
	"context"
	"sort"

	"github.com/w2vcl/w2vcl/corpus"
)

// A scan visits the sentences of the corpus, pass after pass, as the windows
// see them: without the tokens that subsampling drops.
type scan struct {
	corpus   *corpus.Corpus
	options  *Options
	sampler  *corpus.SentenceReader
	progress *progress
}

func newScan(c *corpus.Corpus, o *Options, p *progress) *scan {
	sampling := corpus.SentenceOptions{Seed: o.Seed, Sample: o.Sample, Window: o.Window, Dynamic: o.DynamicWindow}
	return &scan{corpus: c, options: o, sampler: corpus.NewSentenceReader(c, sampling), progress: p}
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
	sampler := s.sampler.Clone()
	visited := 0
	for v := sp.from; v < sp.to; v++ {
		pass, sentence := v/sentences, v%sentences
		visit(sampler.Sentence(uint32(pass), sentence))
		if visited += bounds[sentence+1] - bounds[sentence]; visited >= visitTokens || v == sp.to-1 {
			s.progress.add(int64(visited))
			visited = 0
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
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
