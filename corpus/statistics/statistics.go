// Package statistics counts what a text is like: how often words occur, how the vocabulary
// grows, which pairs of words are frequent, which lines come again. Start at [Of].
package statistics

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
)

// Statistics describe the sentences of a text. Words that reading removed are in none of the
// numbers but Text.
type Statistics struct {
	Text       corpus.Stats `json:"text"`
	Words      int          `json:"words"` // V
	Spectrum   []Bin        `json:"spectrum"`
	MinCounts  []Cut        `json:"min_counts"`
	Ranks      []Rank       `json:"ranks"`
	Zipf       Zipf         `json:"zipf"`
	Heaps      Heaps        `json:"heaps"`
	Lengths    Lengths      `json:"sentence_lengths"`
	Pairs      Pairs        `json:"pairs"`
	Duplicates Duplicates   `json:"duplicates"`
}

// A Bin is the words that occur Least to Most times.
type Bin struct {
	Least  uint64 `json:"least"`
	Most   uint64 `json:"most"`
	Words  int    `json:"words"`
	Tokens uint64 `json:"tokens"`
}

// A Cut is what a minimum count leaves.
type Cut struct {
	MinCount      uint64  `json:"min_count"`
	Words         int     `json:"words"`
	WordFraction  float64 `json:"word_share"` // of the words that occur
	Tokens        uint64  `json:"tokens"`
	TokenFraction float64 `json:"token_share"` // of all tokens
}

// A Rank is a word by its place in the order of frequency, from 1.
type Rank struct {
	Rank  int    `json:"rank"`
	Count uint64 `json:"count"`
}

// Zipf is the law count = Constant / rank^Exponent, fitted to Ranks by least squares of the
// logarithms.
type Zipf struct {
	Constant float64 `json:"constant"`
	Exponent float64 `json:"exponent"`
	Fit      float64 `json:"r_squared"`
}

// Heaps is the law words = Constant · tokens^Exponent, fitted to Growth by least squares of
// the logarithms (Heaps 1978, "Information Retrieval", section 7.5).
type Heaps struct {
	Constant float64  `json:"constant"`
	Exponent float64  `json:"exponent"`
	Fit      float64  `json:"r_squared"`
	Growth   []Growth `json:"growth"`
}

// Growth is how many different words the first tokens of the text have.
type Growth struct {
	Tokens int `json:"tokens"`
	Words  int `json:"words"`
}

// Lengths are those of the sentences, in tokens.
type Lengths struct {
	Mean    float64 `json:"mean"`
	Median  int     `json:"median"`
	Longest int     `json:"longest"`
}

// Options say how much to count.
type Options struct {
	Window   int   // words on either side of which pairs are counted, at least 1
	Top      int   // pairs and repeated sentences that are listed
	Threads  int   // at least 1
	Memory   int64 // for the sentences that are compared, in bytes; 0: 256 MB
	Progress func(done, total int64)
}

// Of counts a text, in three passes.
func Of(ctx context.Context, c *corpus.Corpus, o Options) (*Statistics, error) {
	if o.Memory == 0 {
		o.Memory = 256 << 20
	}
	text := c.Text()
	s := &Statistics{Text: c.Stats, Words: c.Vocabulary.Len()}
	counts := slices.Clone(c.Vocabulary.Counts)
	slices.SortFunc(counts, func(a, b uint64) int { return cmp.Compare(b, a) })
	s.Spectrum, s.MinCounts, s.Ranks = spectrum(counts), cuts(counts), ranks(counts)
	s.Zipf.Constant, s.Zipf.Exponent, s.Zipf.Fit = powerLaw(s.Ranks, func(r Rank) (x, y float64) { return float64(r.Rank), float64(r.Count) })
	s.Zipf.Exponent = -s.Zipf.Exponent
	p := &progress{report: o.Progress, total: 3 * int64(text.Tokens())}
	if err := s.grow(ctx, text, p); err != nil {
		return nil, err
	}
	var err error
	if s.Pairs, err = pairs(ctx, c, o, p); err != nil {
		return nil, err
	}
	s.Duplicates, err = duplicates(ctx, c, o, p)
	return s, err
}

// spectrum bins falling counts by powers of two.
func spectrum(counts []uint64) (bins []Bin) {
	for _, n := range slices.Backward(counts) {
		if n == 0 {
			continue
		}
		for len(bins) == 0 || n > bins[len(bins)-1].Most {
			least := uint64(1) << len(bins)
			bins = append(bins, Bin{Least: least, Most: 2*least - 1})
		}
		b := &bins[len(bins)-1]
		b.Words, b.Tokens = b.Words+1, b.Tokens+n
	}
	return bins
}

// cuts tells what minimum counts leave of falling counts.
func cuts(counts []uint64) (cuts []Cut) {
	occurring, total := 0, uint64(0)
	for _, n := range counts {
		if n > 0 {
			occurring++
		}
		total += n
	}
	for _, least := range []uint64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000} {
		cut := Cut{MinCount: least}
		for _, n := range counts {
			if n < least {
				break
			}
			cut.Words, cut.Tokens = cut.Words+1, cut.Tokens+n
		}
		if cut.Words == 0 {
			break
		}
		cut.WordFraction, cut.TokenFraction = float64(cut.Words)/float64(occurring), float64(cut.Tokens)/float64(total)
		cuts = append(cuts, cut)
	}
	return cuts
}

// ranks picks falling counts at ranks that are about evenly spaced in their logarithm.
func ranks(counts []uint64) (ranks []Rank) {
	for x := 1.0; int(x) <= len(counts); x = max(x+1, x*1.2) {
		if n := counts[int(x)-1]; n > 0 {
			ranks = append(ranks, Rank{int(x), n})
		}
	}
	return ranks
}

// grow sets Heaps and Lengths.
func (s *Statistics) grow(ctx context.Context, text *corpus.Text, p *progress) error {
	seen := make([]bool, s.Words)
	words := 0
	var buffer []uint32
	lengths := map[int]int{} // sentences of each length
	w := text.Window()
	next := 1
	for sentence := range text.Sentences() {
		first, end := text.Start(sentence), text.Start(sentence+1)
		for i, id := range text.View(first, end, &buffer) {
			if !seen[id] {
				seen[id] = true
				words++
			}
			if first+i+1 == next {
				s.Heaps.Growth = append(s.Heaps.Growth, Growth{next, words})
				next = max(next+1, next*5/4)
			}
		}
		lengths[end-first]++
		w.Sentences(sentence, sentence+1)
		if err := p.add(ctx, end-first); err != nil {
			return err
		}
	}
	w.Close()
	if last := (Growth{text.Tokens(), words}); len(s.Heaps.Growth) == 0 || s.Heaps.Growth[len(s.Heaps.Growth)-1] != last {
		s.Heaps.Growth = append(s.Heaps.Growth, last)
	}
	h := &s.Heaps
	h.Constant, h.Exponent, h.Fit = powerLaw(h.Growth, func(g Growth) (x, y float64) { return float64(g.Tokens), float64(g.Words) })
	s.Lengths.Mean = float64(text.Tokens()) / float64(max(text.Sentences(), 1))
	var all []int
	for length := range lengths {
		all = append(all, length)
	}
	slices.Sort(all)
	s.Lengths.Longest = all[len(all)-1]
	for before, i := 0, 0; before*2 < text.Sentences(); i++ {
		s.Lengths.Median = all[i]
		before += lengths[all[i]]
	}
	return nil
}

// powerLaw fits y = constant · x^exponent to points by least squares of the logarithms.
func powerLaw[T any](points []T, of func(T) (x, y float64)) (constant, exponent, rSquared float64) {
	var n, sumX, sumY, sumXX, sumXY, sumYY float64
	for _, p := range points {
		x, y := of(p)
		x, y = math.Log(x), math.Log(y)
		n, sumX, sumY, sumXX, sumXY, sumYY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y, sumYY+y*y
	}
	varX, varY, cov := n*sumXX-sumX*sumX, n*sumYY-sumY*sumY, n*sumXY-sumX*sumY
	if n == 0 || varX <= 0 {
		return math.Exp(sumY / max(n, 1)), 0, 0
	}
	exponent = cov / varX
	if varY > 0 {
		rSquared = cov * cov / (varX * varY)
	}
	return math.Exp((sumY - exponent*sumX) / n), exponent, rSquared
}
