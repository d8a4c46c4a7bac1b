package runfolder

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
)

// A WordVector is the vector of a word.
type WordVector struct {
	Word           string
	Row            int       // of the table; -1 if the vector was composed
	Vector         []float32 // (N)
	subword.Origin           // of a composed vector
}

// Composed reports whether the vector was composed from the word's spelling.
func (w WordVector) Composed() bool { return w.Row < 0 }

// Has reports whether Lookup has a vector of a word.
func (v *Vectors) Has(word string) bool {
	_, ok := v.Index(word)
	return ok || v.Encoder != nil && v.Encoder.Parts(word) > 0
}

// Lookup returns the vectors of words, in their order. The encoder composes the
// vectors of words that are not in the table. Without an encoder such words are an
// error, which suggests similar words; with one, words without a known part are.
func (v *Vectors) Lookup(words []string) ([]WordVector, error) {
	found := make([]WordVector, len(words))
	var problems []string
	for i, word := range words {
		row, ok := v.Index(word)
		switch {
		case ok:
			found[i] = WordVector{Word: word, Row: row, Vector: v.Vector(row)}
		case v.Encoder == nil:
			problems = append(problems, fmt.Sprintf("%q is not in the vocabulary (%s words)%s", word, terminal.Number(v.Len()), v.suggest(word)))
		case !v.Has(word):
			const problem = "%q is not in the vocabulary (%s words), and has no vector %s: no part of it is known"
			origin := subword.Origin{Source: v.Encoder.Source()}
			problems = append(problems, fmt.Sprintf(problem, word, terminal.Number(v.Len()), origin))
		default:
			origin := subword.Origin{Source: v.Encoder.Source(), Parts: v.Encoder.Parts(word)}
			found[i] = WordVector{word, -1, make([]float32, v.Dim), origin}
			if err := v.Encoder.Encode([]string{word}, found[i].Vector); err != nil {
				return nil, err
			}
		}
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "\n"))
	}
	return found, nil
}

// suggest says what to do about a word that is not in the table. It names up to three words like
// it: first those that differ in case only, then those that a typing error or two make of it, and
// frequent words (low rows) first.
func (v *Vectors) suggest(word string) string {
	type candidate struct{ distance, row int }
	if v.later {
		return "; unseen words have vectors when the run is complete"
	}
	var found []candidate
	folded := strings.ToLower(word)
	most := 1 + len(word)/6 // typing errors
	for row, known := range v.Words {
		lower := strings.ToLower(known)
		// Words with lengths this different are more typing errors apart.
		if difference := len(lower) - len(folded); max(difference, -difference) > 4*most {
			continue
		}
		if d := terminal.EditDistance(folded, lower); d <= most {
			found = append(found, candidate{d, row})
		}
	}
	if len(found) == 0 && strings.Contains(word, " ") {
		return "; give one word at a time"
	} else if len(found) == 0 {
		return "; 'train --subword ngram' gives unseen words vectors, too"
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	var names []string
	for _, c := range found[:min(len(found), 3)] {
		names = append(names, v.Words[c.row])
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}
