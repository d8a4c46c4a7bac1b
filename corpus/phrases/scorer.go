package phrases

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Scorer says how much more often two words stand together than by chance. It is
// one entry of the table of [Scorers].
type Scorer struct {
	Name      string
	Help      string  // a few words
	Threshold float64 // to use if nobody chose one: pairs above it are phrases

	score func(a, b, ab float64, c counts) float64
}

// counts are what scores need beside those of a pair.
type counts struct {
	tokens   float64 // of the text
	entries  float64 // different words and pairs
	minCount float64 // δ
}

// Scorers is the table of scorers, the default first.
func Scorers() []Scorer {
	return []Scorer{
		{"word2phrase", "(count(ab) - min-count) / (count(a) count(b)) times the tokens of the text, as word2phrase.c", 100,
			func(a, b, ab float64, c counts) float64 { return (ab - c.minCount) / (a * b) * c.tokens }},
		{"gensim", "the same, times the number of different words and pairs, gensim's default", 10,
			func(a, b, ab float64, c counts) float64 { return (ab - c.minCount) / (a * b) * c.entries }},
		{"npmi", "normalized pointwise mutual information, from -1 to 1", 0.5, npmi},
	}
}

// npmi is ln(p(ab)/(p(a)p(b))) / -ln p(ab) (Bouma 2009).
func npmi(a, b, ab float64, c counts) float64 {
	if ab < c.minCount {
		return math.Inf(-1)
	}
	pa, pb, pab := a/c.tokens, b/c.tokens, ab/c.tokens
	return math.Log(pab/(pa*pb)) / -math.Log(pab)
}

// FindScorer returns the scorer of a name. The error of an unknown one lists them
// all.
func FindScorer(name string) (Scorer, error) {
	all := Scorers()
	i := slices.IndexFunc(all, func(s Scorer) bool { return s.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return Scorer{}, fmt.Errorf("scorer %q is unknown; choose %s", name, strings.Join(names, " or "))
}
