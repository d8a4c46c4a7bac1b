package phrases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxEntries is how many words and pairs are counted at most, about 100 bytes each: beyond, rare ones are dropped.
const MaxEntries = 40_000_000

// Options say what a phrase is. The zero value of MinCount means its default.
type Options struct {
	Threshold float64 // pairs with a higher score are phrases
	MinCount  int     // δ of the scores; rarer pairs are no phrases; default 5
}

func (o Options) withDefaults() (Options, error) {
	o.MinCount = cmp.Or(o.MinCount, 5)
	if o.MinCount < 1 {
		return o, fmt.Errorf("the minimum count is %d; it must be at least 1", o.MinCount)
	}
	return o, nil
}

// A Learner counts the words and pairs of a text. A pair is two words that follow
// each other.
type Learner struct {
	options Options
	counts  map[string]*int64 // of words, and of pairs with a space between
	most    int               // entries
	tokens  int64
	reduce  int64 // counts up to this one are dropped when there are too many entries
	pair    []byte
}

// NewLearner prepares counting.
func NewLearner(o Options) (*Learner, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("phrases: %w", err)
	}
	return &Learner{options: o, counts: map[string]*int64{}, most: MaxEntries, reduce: 1}, nil
}

// Add counts a sentence. Its words must not hold spaces; their strings may be kept.
func (l *Learner) Add(sentence []string) {
	for i, word := range sentence {
		l.count([]byte(word))
		if i > 0 {
			l.pair = append(append(append(l.pair[:0], sentence[i-1]...), ' '), word...)
			l.count(l.pair)
		}
	}
	l.tokens += int64(len(sentence))
	if len(l.counts) > l.most {
		maps.DeleteFunc(l.counts, func(_ string, n *int64) bool { return *n <= l.reduce })
		l.reduce++
	}
}

func (l *Learner) count(entry []byte) {
	if n, ok := l.counts[string(entry)]; ok {
		*n++
		return
	}
	one := int64(1)
	l.counts[string(entry)] = &one
}

// Reduced reports whether there were more entries than MaxEntries, so that rare
// ones were dropped and counts are too low.
func (l *Learner) Reduced() bool { return l.reduce > 1 }

// Pass returns the phrases of the text so far: the pairs ab for which
// (count(ab) - δ) / (count(a) count(b)) times the tokens of the text is above the threshold.
func (l *Learner) Pass() Pass {
	var p Pass
	for pair, n := range l.counts {
		first, last, ok := strings.Cut(pair, " ")
		if !ok {
			continue
		}
		a, b := l.counts[first], l.counts[last]
		if a == nil || b == nil { // dropped
			continue
		}
		score := float64(*n-int64(l.options.MinCount)) / (float64(*a) * float64(*b)) * float64(l.tokens)
		if score > l.options.Threshold {
			p.Phrases = append(p.Phrases, Phrase{pair, *n, score})
		}
	}
	slices.SortFunc(p.Phrases, func(a, b Phrase) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Words, b.Words))
	})
	return p
}
