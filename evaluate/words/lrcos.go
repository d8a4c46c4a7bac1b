package words

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/evaluate/learn"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// LRCos (Drozd, Gladkova and Matsuoka 2016) asks each pair c:d of a section for
// d. Logistic regression learns to tell words like d from others: the answers
// of the section's other pairs are positive examples; their sources, and as
// many random words of the table, are negative ones. The answer is the word x
// of largest P(x is like d)·cos(x,c), x not c.
//
// As in the authors' program (vecto) the examples are unit vectors, both
// classes weigh the same, and the strength of regularisation is 1. Two things
// differ: examples are distinct words, where vecto takes each source four
// times; and neither c nor d is among them (in Google's city-in-state the same
// answer belongs to many pairs, which would train on the answer asked for).

// A wordPair is the rows of a pair's words: source c and answers, the first of which is an
// example of one.
type wordPair struct {
	source  int
	answers []int
}

// distinctPairs returns the pairs of a section whose words are known, in the
// order of the questions, and how many pairs there are.
func distinctPairs(l *evaluate.Lookup, questions []dataset.Question) (pairs []wordPair, total int) {
	seen := make(map[[2]string]bool)
	also := make(map[[2]string][]string) // of pairs that are asked about
	for _, q := range questions {
		if len(q.Also) > 0 {
			also[[2]string{q.C, q.D}] = q.Also
		}
	}
	for _, q := range questions {
		for _, words := range [][2]string{{q.A, q.B}, {q.C, q.D}} {
			if seen[words] {
				continue
			}
			seen[words] = true
			source, ok := l.Row(words[0])
			if answers := answerRows(l, words[1], also[words]); ok && len(answers) > 0 {
				pairs = append(pairs, wordPair{source, answers})
			}
		}
	}
	return pairs, len(seen)
}

// askClasses adds a search for the answer of each pair and returns how many. A
// single pair has no others to learn from: it is not asked.
func (p *pass) askClasses(ctx context.Context, pairs []wordPair, seed uint64) (asked int, err error) {
	if len(pairs) < 2 {
		return 0, nil
	}
	c := p.newClasses(pairs, seed)
	whole := c.fitWithout(wordPair{-1, nil}, nil) // a good start for all others
	models := make([][]float64, len(pairs))
	err = parallel.Do(ctx, p.threads, len(pairs), func(i int) { models[i] = c.fitWithout(pairs[i], whole) })
	if err != nil {
		return 0, err
	}
	for i, pair := range pairs {
		p.askClass(pair, models[i])
	}
	return len(pairs), nil
}

// classes holds the examples of a section.
type classes struct {
	words   []int // rows of the table
	x       *learn.Examples
	answers []learn.BinaryLabel // whether a word is an answer
}

// newClasses collects answers, sources and random words.
func (p *pass) newClasses(pairs []wordPair, seed uint64) *classes {
	c := &classes{x: learn.NewExamples(p.Table.Dim)}
	known := make(map[int]bool)
	include := func(row int, positive bool) {
		if known[row] {
			return
		}
		known[row] = true
		c.answers = append(c.answers, learn.BinaryLabel{Example: uint32(len(c.words)), Positive: positive})
		c.words = append(c.words, row)
		c.x.Add(p.unit(row))
	}
	for _, pair := range pairs {
		include(pair.answers[0], true)
	}
	answers := len(known)
	for _, pair := range pairs {
		include(pair.source, false)
	}
	sources := len(known) - answers
	random := rand.New(rand.NewPCG(seed, 0))
	for want := min(len(known)+sources, p.Limit); len(known) < want; {
		include(random.IntN(p.Limit), false)
	}
	return c
}

// fitWithout learns from all examples but the words of one pair. It returns
// nil if that leaves no positive or no negative ones.
func (c *classes) fitWithout(pair wordPair, start []float64) []float64 {
	var left []learn.BinaryLabel
	count := make(map[bool]int)
	for i, a := range c.answers {
		if c.words[i] != pair.source && !slices.Contains(pair.answers, c.words[i]) {
			left = append(left, a)
			count[a.Positive]++
		}
	}
	if count[true] == 0 || count[false] == 0 {
		return nil
	}
	return learn.Logistic(c.x, left, true, start)
}

// askClass adds the search for one pair's answer; without a model, nothing is
// found.
func (p *pass) askClass(pair wordPair, model []float64) {
	scan := func(*block, *candidate) {}
	if model != nil {
		weights, intercept := make([]float32, p.Table.Dim), model[p.Table.Dim]
		for k := range weights {
			weights[k] = float32(model[k])
		}
		source, class, allowed := p.slot(pair.source), p.addQuery(weights), p.allBut(pair.source)
		scan = func(b *block, best *candidate) {
			scanClass(b.of(b.cosines, source), b.of(b.cosines, class), intercept, b.first, best, allowed)
		}
	}
	p.searches = append(p.searches, search{LRCos, pair.answers, scan})
}

// scanClass looks for the largest P·cos, P = learn.Sigmoid(product+intercept). No
// probability is above 1, so most rows are passed over without computing it.
func scanClass(cosines, products []float32, intercept float64, first int, best *candidate, allowed func(int) bool) {
	for i, cosine := range cosines {
		if best.score >= 0 && cosine <= best.score {
			continue
		}
		p := learn.Sigmoid(float64(products[i]) + intercept)
		if s := float32(p) * cosine; s > best.score && allowed(first+i) {
			*best = candidate{s, first + i}
		}
	}
}
