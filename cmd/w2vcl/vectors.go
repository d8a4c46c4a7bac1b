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
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
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

// A speller is a table of vectors with what composes those of other words, if
// the run has an encoder.
type speller struct {
	*embedding.Table
	encoder subword.Composer // may be nil
}

// loadSpeller is loadVectors with the encoder of a run folder.
func loadSpeller(path string) (*speller, error) {
	t, err := loadVectors(path)
	if err != nil {
		return nil, err
	}
	v := &speller{Table: t}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return v, nil
	}
	v.encoder, err = subword.Load(filepath.Join(path, train.EncoderFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return v, nil
	case err != nil:
		return nil, err
	case v.encoder.Dim() != t.Dim:
		return nil, fmt.Errorf("%s: the vectors have %d dimensions, but %s gives %d", path, t.Dim, train.EncoderFile, v.encoder.Dim())
	}
	return v, nil
}

// notInTable is the row of a word whose vector was composed.
const notInTable = -1

// lookup finds the vectors and rows of words, and composes those that the table
// lacks. Without an encoder they are an error that names words which may have
// been meant.
func (v *speller) lookup(words []string) (vectors [][]float32, rows []int, err error) {
	rows, vectors = make([]int, len(words)), make([][]float32, len(words))
	var problems []string
	for i, word := range words {
		row, ok := v.Index(word)
		switch {
		case ok:
			rows[i], vectors[i] = row, v.Vector(row)
		case v.encoder == nil:
			problems = append(problems, fmt.Sprintf("%q is not in the vocabulary (%s words)%s", word, terminal.Number(v.Len()), suggest(v.Table, word)))
		default:
			rows[i], vectors[i] = notInTable, make([]float32, v.Dim)
			if err := v.encoder.Encode([]string{word}, vectors[i]); err != nil {
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
