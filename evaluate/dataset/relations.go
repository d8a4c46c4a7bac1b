package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// mostPairs is how many pairs a relation has at most; those of BATS have 50. Each is asked about
// with each other one.
const mostPairs = 1000

// An answered word is a line of a relation: a word and all that answer it.
type answered struct {
	word    string
	answers []string
}

// parseAnswered reads "word<TAB>answer/answer".
func parseAnswered(line string) (a answered, err error) {
	word, rest, ok := strings.Cut(line, "\t")
	if !ok || strings.Contains(rest, "\t") {
		return a, errors.New("a line is a word, a tab and its answers with / between them")
	}
	a.word = strings.TrimSpace(word)
	for answer := range strings.SplitSeq(rest, "/") {
		if answer = strings.TrimSpace(answer); answer != "" {
			a.answers = append(a.answers, answer)
		}
	}
	if a.word == "" || len(a.answers) == 0 {
		return a, errors.New("a word or its answer is missing")
	}
	return a, nil
}

// isAnswered tells lines of a relation from counts, edges and sentences.
func isAnswered(line string) bool {
	a, err := parseAnswered(line)
	if err != nil || strings.Contains(a.word, " ") {
		return false
	}
	return !slices.ContainsFunc(append(a.answers, a.word), func(text string) bool {
		_, err := parseScore(text)
		return err == nil
	})
}

func isRelation(lines []string) bool { return len(lines) <= mostPairs && mostly(lines, isAnswered) }

// readRelation reads a file of BATS (Gladkova et al. 2016) as a section: every pair of words asks
// about every other one. The first answer of a word stands in its question; any of them is right.
func readRelation(ctx context.Context, path string, s *Set) error {
	lines, err := ReadLines(ctx, path)
	if err != nil {
		return err
	}
	if len(lines) < 2 || len(lines) > mostPairs {
		return fmt.Errorf("%s: %d pairs of words; a relation has from 2 to %d", path, len(lines), mostPairs)
	}
	pairs := make([]answered, len(lines))
	for i, line := range lines {
		if pairs[i], err = parseAnswered(line.Text); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line.Number, err)
		}
	}
	questions := len(pairs) * (len(pairs) - 1)
	done, err := memory.Room(int64(questions) * int64(unsafe.Sizeof(Question{}))) // few lines may be a million of them
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer done()
	section := Section{Name: stemOf(path), Questions: make([]Question, 0, questions)}
	for i, known := range pairs {
		for k, asked := range pairs {
			if i != k {
				section.Questions = append(section.Questions,
					Question{known.word, known.answers[0], asked.word, asked.answers[0], asked.answers[1:]})
			}
		}
	}
	s.Sections = append(s.Sections, section)
	return nil
}

// collection returns the folder whose files of relations are one set: BATS has them in folders
// beside each other. It is not outside of root.
func collection(root, file string) string {
	folder := filepath.Dir(file)
	if folder == root {
		return root
	}
	return filepath.Dir(folder)
}

// join adds a relation to the set of its collection, if there is one. Its section is named by
// folder and file.
func join(sets []Set, folder string, relation Set) []Set {
	if name, err := filepath.Rel(folder, relation.Path); err == nil {
		relation.Sections[0].Name = filepath.ToSlash(strings.TrimSuffix(name, filepath.Ext(name)))
	}
	for i := range sets {
		if sets[i].Path == folder {
			sets[i].Sections = append(sets[i].Sections, relation.Sections...)
			return sets
		}
	}
	relation.Path = folder
	return append(sets, relation)
}
