package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
)

// loadTable reads the vectors of a run folder or a file, without an encoder.
func loadTable(path string) (*embedding.Table, error) {
	v, err := runfolder.LoadVectors(path)
	if err != nil {
		return nil, err
	}
	return v.Table, nil
}

// notInTable is the row of a word whose vector was composed.
const notInTable = -1

// lookup finds the vectors and rows of words, and composes those that the table
// lacks. Without an encoder they are an error that names words which may have
// been meant.
func lookup(v *runfolder.Vectors, words []string) (vectors [][]float32, rows []int, err error) {
	rows, vectors = make([]int, len(words)), make([][]float32, len(words))
	var problems []string
	for i, word := range words {
		row, ok := v.Index(word)
		switch {
		case ok:
			rows[i], vectors[i] = row, v.Vector(row)
		case v.Encoder == nil:
			problems = append(problems, fmt.Sprintf("%q is not in the vocabulary (%s words)%s", word, terminal.Number(v.Len()), suggest(v.Table, word)))
		default:
			rows[i], vectors[i] = notInTable, make([]float32, v.Dim)
			if err := v.Encoder.Encode([]string{word}, vectors[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(problems) > 0 {
		return nil, nil, errors.New(strings.Join(problems, "\n"))
	}
	return vectors, rows, nil
}

// suggest names up to three words like the one that was not found: first those
// that differ in case only, then those a typing error or two away, frequent
// ones (low rows) first.
func suggest(t *embedding.Table, word string) string {
	type candidate struct{ distance, row int }
	var found []candidate
	folded := strings.ToLower(word)
	most := 1 + len(word)/6
	for row, known := range t.Words {
		lower := strings.ToLower(known)
		if lower == folded {
			found = append(found, candidate{0, row})
			continue
		}
		// Two lengths this different cannot be so few letters apart.
		if difference := len(lower) - len(folded); difference > 4*most || -difference > 4*most {
			continue
		}
		if d := terminal.EditDistance(folded, lower); d <= most {
			found = append(found, candidate{d, row})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	if len(found) == 0 {
		return ""
	}
	var names []string
	for _, c := range found[:min(len(found), 3)] {
		names = append(names, t.Words[c.row])
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}
