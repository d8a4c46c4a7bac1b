package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/train"
)

// loadVectors reads the vectors of a run folder or of a file in any format.
func loadVectors(path string) (*embedding.Table, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such run folder or vectors file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read vectors: %w", err)
	}
	if info.IsDir() {
		file := filepath.Join(path, train.VectorsFile)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is a folder without %s: name a run folder of w2vcl train, or a vectors file", path, train.VectorsFile)
		}
		path = file
	}
	return embedding.Load(path)
}

// lookup finds the rows of words. Unknown ones are an error that names words
// which may have been meant.
func lookup(t *embedding.Table, words []string) ([]int, error) {
	rows := make([]int, len(words))
	var problems []string
	for i, word := range words {
		row, ok := t.Index(word)
		if !ok {
			problems = append(problems, fmt.Sprintf("%q is not in the vocabulary (%s words)%s", word, train.Number(t.Len()), suggest(t, word)))
			continue
		}
		rows[i] = row
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "\n"))
	}
	return rows, nil
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
		if d := train.EditDistance(folded, lower); d <= most {
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
