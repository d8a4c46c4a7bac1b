package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A Sentence is a line of a classification set, or a whole text of one.
type Sentence struct {
	Label string
	Words []string
	Ends  []int // of a relation: the places of the last words of its two parts; else nil
}

// Bytes is about the memory of the sentence.
func (s *Sentence) Bytes() int64 {
	const header, word = 64, 16 + 8 // of a slice or a text, with letters of the text that it is a part of
	return header + word*int64(len(s.Words)) + 8*int64(len(s.Ends))
}

// A SentenceSet is one file, or the files NAME.train, NAME.test and, if there is
// one, NAME.dev.
type SentenceSet struct {
	Path string // of the files, without their endings
	Name string // as the field calls it: "SST-2"

	Training, Dev, Test []Sentence // without a set in parts, all are Training

	Reviews bool // long texts, a file each
}

// Relations reports whether the set asks for relations between two parts of sentences.
func (s *SentenceSet) Relations() bool { return len(s.Training) > 0 && s.Training[0].Ends != nil }

// FindSentences reads the classification sets of a folder, or the set that a file is
// part of, in the order of their paths. strangers are files that are sets of no
// task. Notes say which sets it passes over: those that are there twice or lack a
// part.
//
// It asks only whether the lines of a file are sentences, not whether another format
// comes first in the table: four words a line may be an analogy set, too.
//
// Errors: no set, a bad line in a set (with file and line).
func FindSentences(ctx context.Context, path string) (sets []SentenceSet, strangers, notes []string, err error) {
	root, files, err := Files(path)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(files) == 1 && files[0] == root { // its other parts
		files = partsOf(root)
	}
	found := sentenceParts{parts: map[string]map[string][]Sentence{}, reviews: map[string]bool{}}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		if stem, part, label, unlabelled := reviewOf(file); stem != "" {
			if unlabelled {
				continue
			}
			review, err := readReview(file, label)
			if err != nil {
				return nil, nil, nil, err
			}
			found.add(stem, part, review)
			found.reviews[stem] = true
			continue
		}
		format, formatErr := formatOf(file)
		read := readSentences
		if format != nil && format.Task == evaluate.TaskClassification {
			read = format.read
		}
		var s Set
		if err := read(ctx, file, &s); err != nil {
			return nil, nil, nil, err
		}
		if s.Sentences == nil {
			if formatErr != nil || format == nil {
				strangers = append(strangers, file)
			}
			continue
		}
		stem, part := cutPart(file)
		found.add(stem, part, s.Sentences...)
	}
	sets, notes = found.sets()
	if len(sets) == 0 {
		return nil, nil, nil, fmt.Errorf("%s: no classification set found; expected lines \"label word word ...\" with a whole number as label, sentences with <e1> and <e2> and their relations, or folders train/pos, train/neg, test/pos and test/neg of texts", path)
	}
	return sets, strangers, notes, nil
}

type sentenceParts struct {
	stems   []string                         // of the sets, in the order of their first files
	parts   map[string]map[string][]Sentence // by stem and ending
	reviews map[string]bool                  // stems
}

func (p *sentenceParts) add(stem, part string, sentences ...Sentence) {
	if p.parts[stem] == nil {
		p.parts[stem] = map[string][]Sentence{}
		p.stems = append(p.stems, stem)
	}
	p.parts[stem][part] = append(p.parts[stem][part], sentences...)
}

// sets returns the sets that have all their parts, each once, and notes of those left out.
func (p *sentenceParts) sets() (sets []SentenceSet, notes []string) {
	first := map[uint64]string{} // by content: the stem
	for _, stem := range p.stems {
		set := newSentenceSet(stem, p.parts[stem])
		set.Reviews = p.reviews[stem]
		if set.Training == nil {
			notes = append(notes, stem+": a set in parts needs .train and .test, skipped")
			continue
		}
		content := set.content()
		if other, ok := first[content]; ok {
			notes = append(notes, sameSet(stem, other))
			continue
		}
		first[content] = stem
		sets = append(sets, set)
	}
	return sets, notes
}

// content tells sets apart.
func (s *SentenceSet) content() uint64 {
	hash := xxhash.New()
	for _, part := range [][]Sentence{s.Training, s.Dev, s.Test} {
		for _, x := range part {
			_, _ = fmt.Fprintln(hash, x.Label, len(x.Words), x.Ends)
			for _, word := range x.Words {
				_, _ = fmt.Fprintln(hash, word)
			}
		}
		_, _ = fmt.Fprintln(hash, "end")
	}
	return hash.Sum64()
}

// newSentenceSet puts the parts of a set together. A set that lacks a part has
// nothing to train on.
func newSentenceSet(stem string, parts map[string][]Sentence) SentenceSet {
	set := SentenceSet{Path: stem, Name: sentenceSetName(filepath.Base(stem))}
	switch {
	case parts[""] != nil:
		set.Training = parts[""]
	case parts[".train"] != nil && parts[".test"] != nil:
		set.Training, set.Dev, set.Test = parts[".train"], parts[".dev"], parts[".test"]
	}
	return set
}

// setParts are the endings of the files of a set in parts.
var setParts = []string{".train", ".dev", ".test"}

// partFiles are files whose names say in another way which part of a set they are.
var partFiles = map[string]struct {
	stem, part string
	apart      bool // the parts are in folders beside each other
}{
	"train_5500.label": {"TREC", ".train", false}, "TREC_10.label": {"TREC", ".test", false},
	"TRAIN_FILE.TXT": {"SemEval-2010-8", ".train", true}, "TEST_FILE_FULL.TXT": {"SemEval-2010-8", ".test", true},
}

// cutPart cuts the ending off a file's name, .train or .train.all; part is "" if it is none of setParts.
func cutPart(file string) (stem, part string) {
	if known, ok := partFiles[filepath.Base(file)]; ok {
		folder := filepath.Dir(file)
		if known.apart {
			folder = filepath.Dir(folder)
		}
		return filepath.Join(folder, known.stem), known.part
	}
	for _, part := range setParts {
		if stem, ok := strings.CutSuffix(strings.TrimSuffix(file, ".all"), part); ok {
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
	beside, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return []string{file} // reading it tells
	}
	var files []string
	for _, entry := range beside {
		other := filepath.Join(filepath.Dir(file), entry.Name())
		if otherStem, otherPart := cutPart(other); otherStem == stem && otherPart != "" {
			files = append(files, other)
		}
	}
	return files
}

func isSentence(line string) bool {
	_, err := parseSentence(line)
	return err == nil
}

// readSentences reads a file. It adds nothing if most of the lines are no
// sentences; else the few others are errors. Bytes that are not UTF-8 (the MR set
// is in Latin-1) become U+FFFD, as in a corpus.
func readSentences(_ context.Context, path string, s *Set) error {
	data, err := readFile(path)
	if err != nil {
		return err
	}
	var sentences []Sentence
	var bad error
	var meter memory.Meter
	lines, number := 0, -1
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSuffix(string(line), "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		lines++
		sentence, err := parseSentence(textfile.ValidUTF8(text))
		if err != nil {
			if bad == nil {
				bad = fmt.Errorf("%s:%d: %w", path, number+1, err)
			}
			continue
		}
		if err := meter.Take(sentence.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		sentences = append(sentences, sentence)
	}
	if 2*len(sentences) <= lines {
		return nil
	}
	s.Sentences = sentences
	return bad
}

// trecLabel is a class of questions and a part of it, of which the class counts (Li and Roth 2002).
var trecLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z]{3,}):[a-z]+$`) })

func isTRECQuestion(line string) bool {
	label, _, _ := strings.Cut(line, " ")
	return isSentence(line) && trecLabel().MatchString(label)
}

// parseSentence reads "label word word ...". Numbers alone are an edge of a graph
// and no sentence.
func parseSentence(text string) (Sentence, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return Sentence{}, errors.New("a line is a label and the words of a sentence")
	}
	if question := trecLabel().FindStringSubmatch(fields[0]); question != nil {
		return Sentence{Label: question[1], Words: fields[1:]}, nil
	}
	if _, err := strconv.Atoi(fields[0]); err != nil {
		return Sentence{}, fmt.Errorf("%q is not a label: labels are whole numbers", fields[0])
	}
	numbers := 0
	for _, f := range fields {
		if _, err := strconv.ParseFloat(f, 64); err == nil {
			numbers++
		}
	}
	if numbers == len(fields) {
		return Sentence{}, errors.New("the line has only numbers")
	}
	return Sentence{Label: fields[0], Words: fields[1:]}, nil
}
