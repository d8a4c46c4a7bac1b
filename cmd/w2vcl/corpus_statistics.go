package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// corpusStatistics describe the sentences of a text. Words that reading removed are in none of
// the numbers but Text.
type corpusStatistics struct {
	Text      corpus.Stats   `json:"text"`
	Words     int            `json:"words"` // V
	Frequent  []frequentWord `json:"frequent"`
	MinCounts []countCut     `json:"min_counts"`
	Heaps     heapsLaw       `json:"heaps"`
	Pairs     frequentPairs  `json:"pairs"`
}

// A frequentWord occurs Count times.
type frequentWord struct {
	Word  string `json:"word"`
	Count uint64 `json:"count"`
}

// A countCut is what a minimum count leaves.
type countCut struct {
	MinCount      uint64  `json:"min_count"`
	Words         int     `json:"words"`
	WordFraction  float64 `json:"word_share"` // of the words that occur
	Tokens        uint64  `json:"tokens"`
	TokenFraction float64 `json:"token_share"` // of all tokens
}

// heapsLaw is the law words = Constant · tokens^Exponent, fitted to Growth by least squares of
// the logarithms (Heaps 1978, "Information Retrieval", section 7.5).
type heapsLaw struct {
	Constant float64      `json:"constant"`
	Exponent float64      `json:"exponent"`
	Fit      float64      `json:"r_squared"`
	Growth   []textGrowth `json:"growth"`
}

// textGrowth is how many different words the first tokens of the text have.
type textGrowth struct {
	Tokens int `json:"tokens"`
	Words  int `json:"words"`
}

// frequentPairs are the most frequent pairs of words that are at most Window words apart in a
// sentence, in either order.
type frequentPairs struct {
	Window int            `json:"window"`
	Exact  bool           `json:"exact"` // no pair that is not listed is more frequent than one that is
	Top    []frequentPair `json:"top"`
}

// A frequentPair is two words; the more frequent one is First.
type frequentPair struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Count  uint64 `json:"count"`
}

// countStatistics counts a text in one pass, with pairs of words that are at most window words
// apart. It lists top words and pairs.
func countStatistics(ctx context.Context, c *corpus.Corpus, window, top int) (*corpusStatistics, error) {
	s := &corpusStatistics{Text: c.Stats, Words: c.Vocabulary.Len(), Pairs: frequentPairs{Window: window}}
	counts := c.Vocabulary.Counts // they fall, except those of a given vocabulary
	order := memory.Sequence[int](len(counts))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for _, i := range order[:min(top, len(order))] {
		s.Frequent = append(s.Frequent, frequentWord{c.Vocabulary.Words[i], counts[i]})
	}
	s.MinCounts = countCuts(counts)
	pairs := newPairCounts(c.Vocabulary, window)
	seen, words, next := make([]bool, s.Words), 0, 1
	text := c.Text()
	var buffer []uint32
	w := text.Window()
	defer w.Close()
	for sentence := range text.Sentences() {
		first, end := text.Start(sentence), text.Start(sentence+1)
		ids := text.View(first, end, &buffer)
		for i, id := range ids {
			if !seen[id] {
				seen[id] = true
				words++
			}
			if first+i+1 == next {
				s.Heaps.Growth = append(s.Heaps.Growth, textGrowth{next, words})
				next = max(next+1, next*5/4)
			}
		}
		pairs.add(ids)
		w.Sentences(sentence, sentence+1)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if last := (textGrowth{text.Tokens(), words}); len(s.Heaps.Growth) == 0 || s.Heaps.Growth[len(s.Heaps.Growth)-1] != last {
		s.Heaps.Growth = append(s.Heaps.Growth, last)
	}
	s.Heaps.fit()
	s.Pairs.Top, s.Pairs.Exact = pairs.most(top)
	return s, nil
}

// countCuts tells what minimum counts leave.
func countCuts(counts []uint64) (cuts []countCut) {
	for _, least := range []uint64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000} {
		cut := countCut{MinCount: least}
		for _, n := range counts {
			if n >= least {
				cut.Words, cut.Tokens = cut.Words+1, cut.Tokens+n
			}
		}
		if cut.Words == 0 {
			break
		}
		cuts = append(cuts, cut)
	}
	for i := range cuts {
		cuts[i].WordFraction = float64(cuts[i].Words) / float64(cuts[0].Words)
		cuts[i].TokenFraction = float64(cuts[i].Tokens) / float64(cuts[0].Tokens)
	}
	return cuts
}

// fit sets the law by the growth.
func (h *heapsLaw) fit() {
	var n, sumX, sumY, sumXX, sumXY, sumYY float64
	for _, g := range h.Growth {
		x, y := math.Log(float64(g.Tokens)), math.Log(float64(g.Words))
		n, sumX, sumY, sumXX, sumXY, sumYY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y, sumYY+y*y
	}
	varX, varY, cov := n*sumXX-sumX*sumX, n*sumYY-sumY*sumY, n*sumXY-sumX*sumY
	if varX > 0 {
		h.Exponent = cov / varX
		if varY > 0 {
			h.Fit = cov * cov / (varX * varY)
		}
	}
	h.Constant = math.Exp((sumY - h.Exponent*sumX) / n)
}

// pairCounts count the pairs of the most frequent words.
type pairCounts struct {
	vocabulary *corpus.Vocabulary
	window     int
	words      int      // whose pairs are counted
	counts     []uint64 // (words, words)
}

func newPairCounts(v *corpus.Vocabulary, window int) *pairCounts {
	n := min(2048, v.Len())
	return &pairCounts{v, window, n, make([]uint64, n*n)}
}

func (p *pairCounts) add(ids []uint32) {
	n := p.words
	for i, a := range ids {
		if int(a) >= n {
			continue
		}
		for _, b := range ids[i+1 : min(i+1+p.window, len(ids))] {
			if int(b) < n {
				p.counts[int(min(a, b))*n+int(max(a, b))]++
			}
		}
	}
}

// most returns the most frequent pairs. A pair that was not counted has a rarer word, and occurs
// at most 2·window times as often as that.
func (p *pairCounts) most(top int) (pairs []frequentPair, exact bool) {
	n := p.words
	var order []int
	for i, k := range p.counts {
		if k > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(p.counts[b], p.counts[a]), a-b) })
	for _, i := range order[:min(top, len(order))] {
		pairs = append(pairs, frequentPair{p.vocabulary.Words[i/n], p.vocabulary.Words[i%n], p.counts[i]})
	}
	if n == p.vocabulary.Len() {
		return pairs, true
	}
	most := 2 * uint64(p.window) * p.vocabulary.Counts[n]
	return pairs, len(pairs) == top && pairs[top-1].Count >= most
}
