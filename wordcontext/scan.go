package wordcontext

import (
	"context"

	"github.com/w2vcl/w2vcl/corpus"
)

// A scan visits the sentences of the corpus, pass after pass, without the tokens
// that subsampling drops.
type scan struct {
	corpus   *corpus.Corpus
	text     *corpus.Text // of corpus
	options  *Options
	reader   *corpus.SentenceReader
	progress *progress

	sentences, tokens int // at the start of the text; all, unless a part is measured
}

func newScan(c *corpus.Corpus, o *Options, p *progress) *scan {
	sentences := corpus.SentenceOptions{Seed: o.Seed, Sample: o.Sample, Window: o.Window, Dynamic: o.DynamicWindow}
	text := c.Text()
	return &scan{
		corpus: c, text: text, options: o, reader: corpus.NewSentenceReader(c, sentences), progress: p,
		sentences: text.Sentences(), tokens: text.Tokens(),
	}
}

// visits returns the number of tokens that a scan of all passes visits.
func (s *scan) visits() int64 { return int64(s.tokens) * int64(s.options.Passes) }

// A span is a range of visits. In a text of S sentences, visit number p·S + s is
// the visit of sentence s in pass p.
type span struct{ from, to int }

// split cuts all visits into at most n spans of about equal numbers of tokens.
func (s *scan) split(n int) []span {
	sentences, tokens := s.sentences, s.tokens
	total := tokens * s.options.Passes
	spans := make([]span, 0, n)
	from := 0
	for k := 1; k <= n; k++ {
		at := int(float64(total) * (float64(k) / float64(n)))
		to := sentences * s.options.Passes
		if k < n {
			to = at/tokens*sentences + s.text.Find(at%tokens)
		}
		if to > from {
			spans = append(spans, span{from, to})
			from = to
		}
	}
	return spans
}

// visitTokens is the number of tokens that a scan visits between two reports of
// progress. It stops there, too, if its ctx is cancelled.
const visitTokens = 1 << 16

// each calls visit for every sentence of the span, with the words that
// subsampling leaves and the size of each word's window. sizes is nil if windows
// are not dynamic. Both slices are valid only during the call.
func (s *scan) each(ctx context.Context, sp span, visit func(words, sizes []uint32)) error {
	sentences := s.sentences
	reader := s.reader.Clone()
	visited := 0
	for v := sp.from; v < sp.to; v++ {
		pass, sentence := v/sentences, v%sentences
		visit(reader.Sentence(uint32(pass), sentence))
		if visited += s.text.Start(sentence+1) - s.text.Start(sentence); visited >= visitTokens || v == sp.to-1 {
			s.progress.add(int64(visited))
			visited = 0
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// window returns the first and the last position of the window around position t
// in a sentence of n words. The contexts of t are the words of the window, except
// the word at t.
func window(t, n, size int) (first, last int) {
	return max(t-size, 0), min(t+size, n-1)
}

// count adds the number of contexts of each word of the sentence to counts. If
// found is not nil, it adds the number of times that each word is a context to
// found. Both slices have V elements. sizes may be nil: every window then has the
// given size.
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
		found[word]-- // a word is not a context of itself
	}
}
