package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Pair is two words and how similar people find them.
type Pair struct {
	First, Second string
	Score         float64
}

type pairLines struct {
	titles bool // in the first line
	parse  func(line string) (Pair, error)
}

// similarity makes a format of pairs. open looks at the first lines of a file and
// returns how to read all; ok is false if the file has another format.
func similarity(name, example string, open func(lines []string) (p pairLines, ok bool)) Format {
	matches := func(lines []string) bool {
		p, ok := open(lines)
		if !ok {
			return false
		}
		if p.titles {
			lines = lines[1:]
		}
		return mostly(lines, func(line string) bool {
			pair, err := p.parse(line)
			return err == nil && !isEdge(pair)
		})
	}
	read := func(ctx context.Context, path string, s *Set) error {
		lines, err := ReadLines(ctx, path)
		if err != nil {
			return err
		}
		p, ok := open(texts(lines))
		if !ok {
			return fmt.Errorf("%s: the file changed while it was read, and is no longer %s", path, name)
		}
		if p.titles {
			lines = lines[1:]
		}
		for _, line := range lines {
			pair, err := p.parse(line.Text)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", path, line.Number, err)
			}
			if s.Pairs, err = memory.Append(s.Pairs, pair); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	}
	return Format{Task: evaluate.TaskSimilarity, Name: name, Example: example, matches: matches, read: read}
}

// isEdge reports whether a pair is two numbers and a weight: the file is a graph.
func isEdge(p Pair) bool {
	_, err1 := parseScore(p.First)
	_, err2 := parseScore(p.Second)
	return err1 == nil && err2 == nil
}

// columns opens files of columns: two words in the first two columns, the score in
// another one. is tells by the first line whether a file has them between such
// separators. A space stands for any white space.
func columns(separator string, is func(line string) bool) func(lines []string) (pairLines, bool) {
	split := func(line string) []string {
		if separator == " " {
			return strings.Fields(line)
		}
		fields := strings.Split(line, separator)
		for i, field := range fields {
			fields[i] = strings.TrimSpace(field)
		}
		return fields
	}
	return func(lines []string) (pairLines, bool) {
		if len(lines) == 0 || !is(lines[0]) {
			return pairLines{}, false
		}
		score, titles := scoreColumn(lines, split)
		parse := func(line string) (Pair, error) { return parsePair(split(line), score) }
		return pairLines{titles, parse}, score > 0
	}
}

// lemmas opens MEN's lemma form: columns between spaces, and behind each word its class.
func lemmas(lines []string) (pairLines, bool) {
	p, ok := columns(" ", hasSpaces)(lines)
	inner := p.parse
	p.parse = func(line string) (Pair, error) {
		pair, err := inner(line)
		for _, word := range []*string{&pair.First, &pair.Second} {
			lemma, class, found := strings.Cut(*word, "-")
			if err == nil && (!found || lemma == "" || !slices.Contains([]string{"n", "v", "j"}, class)) {
				err = fmt.Errorf("%q does not end in -n, -v or -j", *word)
			}
			*word = lemma
		}
		return pair, err
	}
	if !ok || p.titles {
		return p, false
	}
	_, err := p.parse(lines[0])
	return p, err == nil
}

func hasTabs(line string) bool   { return strings.Contains(line, "\t") }
func hasCommas(line string) bool { return !hasTabs(line) && strings.Count(line, ",") >= 2 }
func hasSpaces(line string) bool { return !hasTabs(line) && !hasCommas(line) }

// scoreTitles are parts of the titles that score columns have, lower-case, the
// most telling first: SimLex-999 has several columns of numbers.
var scoreTitles = []string{"simlex", "human", "mean", "score", "rating", "average", "similarity", "relatedness"}

// scoreColumn finds the column of scores, 0 if there is none. Without a telling
// title it is the first column of numbers behind the words.
func scoreColumn(lines []string, split func(string) []string) (column int, titles bool) {
	if column = numericColumn(split(lines[0])); column > 0 {
		return column, false
	}
	for _, part := range scoreTitles {
		for column, title := range split(lines[0]) {
			if column >= 2 && strings.Contains(strings.ToLower(title), part) {
				return column, true
			}
		}
	}
	if len(lines) > 1 {
		column = numericColumn(split(lines[1]))
	}
	return column, true
}

// numericColumn returns the first column of numbers behind the words, or 0.
func numericColumn(fields []string) int {
	for column := 2; column < len(fields); column++ {
		if _, err := parseScore(fields[column]); err == nil {
			return column
		}
	}
	return 0
}

func parsePair(fields []string, score int) (Pair, error) {
	if len(fields) <= score {
		return Pair{}, fmt.Errorf("%d columns, but the score is column %d", len(fields), score+1)
	}
	value, err := parseScore(fields[score])
	if err != nil {
		return Pair{}, err
	}
	if fields[0] == "" || fields[1] == "" {
		return Pair{}, errors.New("a word is missing")
	}
	return Pair{fields[0], fields[1], value}, nil
}

func parseScore(s string) (float64, error) {
	score, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return 0, fmt.Errorf("%q is not a score", s)
	}
	return score, nil
}
