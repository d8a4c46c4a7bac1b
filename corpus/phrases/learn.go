package phrases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// English are common words of English phrases, gensim's ENGLISH_CONNECTOR_WORDS.
const English = "a an the for of with without at from to in on by and or"

// Options say what a phrase is. The zero values of MinCount and MaxEntries mean
// their defaults.
type Options struct {
	Scorer     Scorer
	Threshold  float64  // pairs with a higher score are phrases
	MinCount   int      // δ of the scores; rarer pairs are no phrases; default 5
	Delimiter  string   // joins the words of a phrase; not empty
	Common     []string // words that may stand inside phrases, but not at their ends
	MaxEntries int      // words and pairs to count at most: beyond, rare ones are dropped; default 40,000,000
}

func (o Options) withDefaults() (Options, error) {
	o.MinCount, o.MaxEntries = cmp.Or(o.MinCount, 5), cmp.Or(o.MaxEntries, 40_000_000)
	switch {
	case o.Scorer.score == nil:
		return o, fmt.Errorf("there is no scorer: see Scorers")
	case o.MinCount < 1:
		return o, fmt.Errorf("the minimum count is %d; it must be at least 1", o.MinCount)
	case o.MaxEntries < 1:
		return o, fmt.Errorf("the most entries are %d; there must be at least 1", o.MaxEntries)
	case o.Delimiter == "" || strings.ContainsAny(o.Delimiter, " \t\r\n"):
		return o, fmt.Errorf("the delimiter is %q; it must be text without white space", o.Delimiter)
	}
	return o, nil
}

// A Learner counts the words and pairs of a text. A pair is two words that follow
// each other, or have only common words between them; these are then part of it.
type Learner struct {
	options Options
	common  map[string]bool
	words   map[string]*int64
	pairs   map[string]*int64 // by their words with spaces between
	tokens  int64
	reduce  int64 // counts up to this one are dropped when there are too many entries

	between []string
	key     []byte
}

// NewLearner prepares counting.
func NewLearner(o Options) (*Learner, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("phrases: %w", err)
	}
	return &Learner{options: o, common: set(o.Common), words: map[string]*int64{}, pairs: map[string]*int64{}, reduce: 1}, nil
}

func set(words []string) map[string]bool {
	all := map[string]bool{}
	for _, word := range words {
		all[word] = true
	}
	return all
}

// Add counts a sentence. Its words must not hold spaces; their strings may be kept.
func (l *Learner) Add(sentence []string) {
	first := ""
	l.between = l.between[:0]
	for _, word := range sentence {
		switch {
		case !l.common[word]:
			if n, ok := l.words[word]; ok {
				*n++
			} else {
				one := int64(1)
				l.words[word] = &one
			}
			if first != "" {
				l.key = join(l.key[:0], " ", first, l.between, word)
				if n, ok := l.pairs[string(l.key)]; ok {
					*n++
				} else {
					one := int64(1)
					l.pairs[string(l.key)] = &one
				}
			}
			first, l.between = word, l.between[:0]
		case first != "":
			l.between = append(l.between, word)
		}
	}
	l.tokens += int64(len(sentence))
	if len(l.words)+len(l.pairs) > l.options.MaxEntries {
		rare := func(_ string, n *int64) bool { return *n <= l.reduce }
		maps.DeleteFunc(l.words, rare)
		maps.DeleteFunc(l.pairs, rare)
		l.reduce++
	}
}

// join appends the words of a pair with a separator between them.
func join(to []byte, separator, first string, between []string, last string) []byte {
	to = append(to, first...)
	for _, word := range between {
		to = append(append(to, separator...), word...)
	}
	return append(append(to, separator...), last...)
}

// Reduced reports whether there were more entries than MaxEntries, so that rare
// ones were dropped and counts are too low.
func (l *Learner) Reduced() bool { return l.reduce > 1 }

// Pass returns the phrases of the text so far.
func (l *Learner) Pass() Pass { return l.pass(l.sameText()) }

func (l *Learner) pass(same map[string]int64, entries int) Pass {
	c := counts{float64(l.tokens), float64(entries), float64(l.options.MinCount)}
	count := func(text string, own *int64) float64 {
		if n, ok := same[text]; ok {
			return float64(n)
		}
		return float64(*own)
	}
	var p Pass
	for pair, n := range l.pairs {
		first, last := ends(pair)
		a, b := l.words[first], l.words[last]
		if a == nil || b == nil { // dropped
			continue
		}
		together := float64(*n)
		if len(same) > 0 {
			together = count(l.joined(pair), n)
		}
		if score := l.options.Scorer.score(count(first, a), count(last, b), together, c); score > l.options.Threshold {
			p.Phrases = append(p.Phrases, Phrase{pair, int64(together), score})
		}
	}
	slices.SortFunc(p.Phrases, func(a, b Phrase) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Words, b.Words))
	})
	return p
}

// ends returns the first and last word of a pair.
func ends(pair string) (first, last string) {
	return pair[:strings.IndexByte(pair, ' ')], pair[strings.LastIndexByte(pair, ' ')+1:]
}

func (l *Learner) joined(pair string) string {
	return strings.ReplaceAll(pair, " ", l.options.Delimiter)
}

// sameText returns the counts of texts that may stand for several entries, because
// words hold the delimiter: "a_b" is the pair a b, or a word. As in gensim, they
// count together. entries is the number of different texts of all words and pairs.
func (l *Learner) sameText() (same map[string]int64, entries int) {
	same = map[string]int64{}
	for word := range l.words {
		if strings.Contains(word, l.options.Delimiter) {
			same[word] = 0
		}
	}
	for pair := range l.pairs {
		if strings.Contains(pair, l.options.Delimiter) {
			same[l.joined(pair)] = 0
		}
	}
	if entries = len(same); entries == 0 {
		return same, len(l.words) + len(l.pairs)
	}
	add := func(text string, n int64) {
		if sum, ok := same[text]; ok {
			same[text] = sum + n
		} else {
			entries++
		}
	}
	for word, n := range l.words {
		add(word, *n)
	}
	for pair, n := range l.pairs {
		add(l.joined(pair), *n)
	}
	return same, entries
}
