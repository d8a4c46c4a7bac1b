package evaluate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A pair is two words and how similar people find them.
type pair struct {
	first, second string
	score         float64
}

// A layout says where a similarity file keeps what: two words in the first two
// columns, the score in another one.
type layout struct {
	separator string // tab, comma, or "" for any spaces
	header    bool   // the first line holds titles
	score     int    // column
}

// scoreTitles are parts of the titles that score columns have, lower-case, the
// most telling first: SimLex-999 has several columns of numbers.
var scoreTitles = []string{"simlex", "human", "mean", "score", "rating", "average", "similarity", "relatedness"}

// findLayout looks at the first lines of a file, without comments and empty
// lines. Without titles the score is the first column of numbers after the
// words.
func findLayout(lines []string) (layout, error) {
	if len(lines) == 0 {
		return layout{}, errors.New("no pairs")
	}
	var f layout
	switch {
	case strings.Contains(lines[0], "\t"):
		f.separator = "\t"
	case strings.Count(lines[0], ",") >= 2:
		f.separator = ","
	}
	if f.score = numericColumn(f.fields(lines[0])); f.score > 0 {
		return f, nil
	}
	f.header = true
	for _, part := range scoreTitles {
		for column, title := range f.fields(lines[0]) {
			if column >= 2 && strings.Contains(strings.ToLower(title), part) {
				f.score = column
				return f, nil
			}
		}
	}
	if len(lines) > 1 {
		f.score = numericColumn(f.fields(lines[1]))
	}
	if f.score == 0 {
		return layout{}, errors.New("no column of scores after the two words")
	}
	return f, nil
}

// numericColumn returns the first column of numbers after the words, or 0.
func numericColumn(fields []string) int {
	for column := 2; column < len(fields); column++ {
		if _, err := parseScore(fields[column]); err == nil {
			return column
		}
	}
	return 0
}

func (f layout) fields(line string) []string {
	if f.separator == "" {
		return strings.Fields(line)
	}
	fields := strings.Split(line, f.separator)
	for i, field := range fields {
		fields[i] = strings.TrimSpace(field)
	}
	return fields
}

// parse reads one line.
func (f layout) parse(line string) (pair, error) {
	fields := f.fields(line)
	if len(fields) <= f.score {
		return pair{}, fmt.Errorf("%d columns, but the score is column %d", len(fields), f.score+1)
	}
	score, err := parseScore(fields[f.score])
	if err != nil {
		return pair{}, err
	}
	if fields[0] == "" || fields[1] == "" {
		return pair{}, errors.New("a word is missing")
	}
	return pair{fields[0], fields[1], score}, nil
}

func parseScore(s string) (float64, error) {
	score, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return 0, fmt.Errorf("%q is not a score", s)
	}
	return score, nil
}

// readSimilarity reads a file of word pairs with scores: columns separated by
// tabs, commas or spaces, lines beginning with '#' are comments. Errors name
// the file and the line.
func readSimilarity(path string) ([]pair, error) {
	lines, err := readLines(path)
	if err != nil {
		return nil, err
	}
	f, err := findLayout(texts(lines))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.header {
		lines = lines[1:]
	}
	pairs := make([]pair, len(lines))
	for i, line := range lines {
		if pairs[i], err = f.parse(line.text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line.number, err)
		}
	}
	return pairs, nil
}

// similarity scores pairs: rank and linear correlation of cosine and human
// score.
func similarity(l *lookup, dataset string, pairs []pair, o Options) ([]Result, error) {
	composed, err := l.compose(pairs, o)
	if err != nil {
		return nil, err
	}
	var unknown []float32 // stands for a word that is not in the table
	switch o.OOV {
	case OOVZero:
		unknown = make([]float32, l.table.Dim)
	case OOVMean:
		unknown = l.meanVector()
	}
	vector := func(word string) (v []float32, known bool) {
		if row, ok := l.row(word); ok {
			return l.table.Vector(row), true
		}
		if v, ok := composed[word]; ok {
			return v, false
		}
		return unknown, false
	}
	var human, model []float64
	found := 0
	for _, p := range pairs {
		first, known1 := vector(p.first)
		second, known2 := vector(p.second)
		if known1 && known2 {
			found++
		} else if o.OOV == OOVSkip {
			continue
		}
		human = append(human, p.score)
		model = append(model, cosine(first, second))
	}
	result := func(metric string, score float64) Result {
		r := newResult(TaskSimilarity, dataset, metric, Score(score), found, len(pairs))
		if o.OOV == OOVCompose {
			r.Composed = len(pairs) - found
		}
		return r
	}
	return []Result{
		result(MetricSpearman, Spearman(human, model)),
		result(MetricPearson, Pearson(human, model)),
	}, nil
}

// compose returns vectors for the words of pairs that are not in the table,
// under the rule OOVCompose.
func (l *lookup) compose(pairs []pair, o Options) (map[string][]float32, error) {
	if o.OOV != OOVCompose {
		return nil, nil
	}
	place := map[string]int{}
	var spelt []string
	for _, p := range pairs {
		for _, word := range []string{p.first, p.second} {
			_, known := l.row(word)
			if _, met := place[word]; known || met {
				continue
			}
			place[word] = len(spelt)
			if l.folded != nil && !l.capitals {
				word = strings.ToLower(word)
			}
			spelt = append(spelt, word)
		}
	}
	n := l.table.Dim
	vectors := make([]float32, len(spelt)*n)
	if err := o.Compose(spelt, vectors); err != nil {
		return nil, fmt.Errorf("compose vectors of unseen words: %w", err)
	}
	composed := make(map[string][]float32, len(place))
	for word, i := range place {
		composed[word] = vectors[i*n:][:n]
	}
	return composed, nil
}
