package evaluate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A sentence of a classification set, as read.
type labelled struct {
	label string
	words []string
}

// A classificationSet is one file, or the files NAME.train, NAME.dev and
// NAME.test.
type classificationSet struct {
	name                 string
	training, dev, tests []labelled // tests is empty: cross-validate
}

// ClassificationSets names the sets that [Classification] finds, with their
// sentences, and says in notes which of them it passes over: those that are there
// twice or lack a part.
func ClassificationSets(path string) (names, notes []string, err error) {
	sets, _, notes, err := findClassification(path)
	for _, s := range sets {
		names = append(names, fmt.Sprintf("%s, %d sentences", s.name, len(s.training)+len(s.dev)+len(s.tests)))
	}
	return names, notes, err
}

// findClassification reads the sets of a folder, or of the set that a file is
// part of, in the order of their paths. strangers are files that are sets of no
// task.
func findClassification(path string) (sets []classificationSet, strangers, notes []string, err error) {
	root, files, err := regularFiles(path)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(files) == 1 && files[0] == root { // its other parts
		files = partsOf(root)
	}
	parts := map[string]map[string][]labelled{} // by stem and part
	var stems []string
	for _, file := range files {
		sentences, err := readClassification(file)
		if err != nil {
			return nil, nil, nil, err
		}
		if sentences == nil {
			if task, err := taskOf(file); err != nil || task == "" {
				strangers = append(strangers, file)
			}
			continue
		}
		stem, part := cutPart(file)
		if parts[stem] == nil {
			parts[stem] = map[string][]labelled{}
			stems = append(stems, stem)
		}
		parts[stem][part] = sentences
	}
	first := map[string]string{} // by content: the stem
	for _, stem := range stems {
		set := newClassificationSet(stem, parts[stem])
		if set.training == nil {
			notes = append(notes, stem+": a set in parts needs .train and .test, skipped")
			continue
		}
		if len(set.training) < 2*folds {
			return nil, nil, nil, fmt.Errorf("%s: %d sentences to train on; there must be %d at least", stem, len(set.training), 2*folds)
		}
		content := fmt.Sprintf("%q %q %q", set.training, set.dev, set.tests)
		if other, ok := first[content]; ok {
			notes = append(notes, sameSet(stem, other))
			continue
		}
		first[content] = stem
		sets = append(sets, set)
	}
	if len(sets) == 0 {
		return nil, nil, nil, fmt.Errorf("%s: no classification set found; expected lines \"label word word ...\" with a whole number as label", path)
	}
	return sets, strangers, notes, nil
}

// newClassificationSet puts the parts of a set together. One that lacks a part has
// nothing to train on.
func newClassificationSet(stem string, parts map[string][]labelled) classificationSet {
	set := classificationSet{name: classificationName(filepath.Base(stem))}
	switch {
	case parts[""] != nil:
		set.training = parts[""]
	case parts[".train"] != nil && parts[".test"] != nil:
		set.training, set.dev, set.tests = parts[".train"], parts[".dev"], parts[".test"]
	}
	return set
}

// setParts are the endings of the files of a set in parts.
var setParts = []string{".train", ".dev", ".test"}

// cutPart returns a file's name without its part's ending, and that, or "".
func cutPart(file string) (stem, part string) {
	for _, part := range setParts {
		if stem, ok := strings.CutSuffix(file, part); ok {
			return stem, part
		}
	}
	return strings.TrimSuffix(file, filepath.Ext(file)), ""
}

// partsOf returns the files of the set that a file is part of.
func partsOf(file string) []string {
	stem, part := cutPart(file)
	if part == "" {
		return []string{file}
	}
	var files []string
	for _, part := range setParts {
		if _, err := os.Stat(stem + part); err == nil {
			files = append(files, stem+part)
		}
	}
	return files
}

func looksLikeSentences(lines []string) bool {
	good := 0
	for _, l := range lines {
		if _, err := parseLabelled(l); err == nil {
			good++
		}
	}
	return 2*good > len(lines)
}

// readClassification reads a file, or returns nil if most of its lines are no
// labelled sentences. The few others are errors. Bytes that are not UTF-8 (the
// MR set is in Latin-1) become U+FFFD, as in a corpus.
func readClassification(path string) ([]labelled, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var sentences []labelled
	var bad error
	lines := 0
	for number, text := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		lines++
		s, err := parseLabelled(strings.ToValidUTF8(text, "\uFFFD"))
		if err != nil {
			if bad == nil {
				bad = fmt.Errorf("%s:%d: %w", path, number+1, err)
			}
			continue
		}
		sentences = append(sentences, s)
	}
	if 2*len(sentences) <= lines {
		return nil, nil
	}
	return sentences, bad
}

// parseLabelled reads "label word word ...". Two numbers are an edge of a graph
// and no sentence.
func parseLabelled(text string) (labelled, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return labelled{}, errors.New("a line is a label and the words of a sentence")
	}
	if _, err := strconv.Atoi(fields[0]); err != nil {
		return labelled{}, fmt.Errorf("%q is not a label: labels are whole numbers", fields[0])
	}
	numbers := 0
	for _, f := range fields {
		if _, err := strconv.ParseFloat(f, 64); err == nil {
			numbers++
		}
	}
	if numbers == len(fields) {
		return labelled{}, errors.New("there are only numbers")
	}
	return labelled{fields[0], fields[1:]}, nil
}

// classificationNames maps the files of the field's usual collection to the
// names of the sets.
var classificationNames = map[string]string{
	"rt-polarity": "MR", "subj": "Subj", "stsa.binary": "SST-2", "stsa.fine": "SST-1", "custrev": "CR", "mpqa": "MPQA",
}

func classificationName(stem string) string {
	if name, ok := classificationNames[stem]; ok {
		return name
	}
	return stem
}
