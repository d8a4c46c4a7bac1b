package evaluate

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A member is a word and the category that people put it into.
type member struct{ word, category string }

// A categoryLayout says where a file of categories keeps what.
type categoryLayout struct {
	word, category int  // columns
	relation       int  // BLESS: column of the relation between two words, else -1
	header         bool // the first line holds titles
}

// blessRelations are what BLESS relates a concept to others by.
var blessRelations = []string{"attri", "coord", "event", "hyper", "mero", "random-j", "random-n", "random-v"}

// findCategoryLayout looks at the columns of the first line: titles, among them
// category (or class) and word (or concept); or BLESS, whose lines are a concept
// with "-n" behind it, its class, a relation and another word.
func findCategoryLayout(first []string) (f categoryLayout, ok bool) {
	if len(first) == 4 && slices.Contains(blessRelations, first[2]) && strings.HasSuffix(first[0], "-n") {
		return categoryLayout{word: 0, category: 1, relation: 2}, true
	}
	f = categoryLayout{word: -1, category: -1, relation: -1, header: true}
	for column, title := range first {
		switch strings.ToLower(strings.TrimSpace(title)) {
		case "word", "words", "concept":
			f.word = column
		case "category", "categories", "class":
			f.category = column
		}
	}
	return f, f.word >= 0 && f.category >= 0
}

func looksLikeCategories(lines []string) bool {
	columns, err := columnReader(strings.Join(lines, "\n")).Read()
	if err != nil {
		return false
	}
	_, ok := findCategoryLayout(columns)
	return ok
}

// columnReader returns a reader of lines with tabs between columns, if the first
// one has any, else with commas.
func columnReader(text string) *csv.Reader {
	text = strings.TrimPrefix(text, "\uFEFF")
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.LazyQuotes, r.FieldsPerRecord = '#', true, -1
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if strings.Contains(line, "\t") {
			r.Comma = '\t'
		}
		break
	}
	return r
}

// readCategories reads a file of words with their categories: columns separated
// by commas or tabs under titles, or BLESS. Each couple of word and category
// counts once; a line without a word, of which the published AP has one for each
// category, counts as none. Errors name the file and the line.
func readCategories(path string) ([]member, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f categoryLayout
	var members []member
	seen := make(map[member]bool)
	r := columnReader(string(content))
	for first := true; ; first = false {
		columns, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if first {
			var ok bool
			if f, ok = findCategoryLayout(columns); !ok {
				return nil, fmt.Errorf("%s: no titles \"category\" and \"word\" in the first line", path)
			}
			if f.header {
				continue
			}
		}
		m, err := f.parse(columns)
		if err != nil {
			number, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if m.word != "" && !seen[m] {
			seen[m] = true
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("%s: no words", path)
	}
	return members, nil
}

func (f categoryLayout) parse(fields []string) (member, error) {
	if last := max(f.word, f.category, f.relation); len(fields) <= last {
		return member{}, fmt.Errorf("%d columns, but %d are needed", len(fields), last+1)
	}
	m := member{strings.TrimSpace(fields[f.word]), strings.TrimSpace(fields[f.category])}
	if f.relation >= 0 {
		m.word = strings.TrimSuffix(m.word, "-n")
	}
	if m.category == "" {
		return member{}, errors.New("the category is missing")
	}
	return m, nil
}

// categorization groups the words of a set by their unit vectors into as many
// clusters as there are categories, and scores these by their purity.
func categorization(ctx context.Context, l *lookup, dataset string, members []member, o Options) ([]Result, error) {
	var unknown []float64 // stands for a word that is not in the table, which is left out without it
	switch o.OOV {
	case OOVZero:
		unknown = make([]float64, l.table.Dim)
	case OOVMean:
		unknown = unitVector(l.meanVector())
	}
	var points [][]float64
	var category []int
	numbers := make(map[string]int)
	found := 0
	for _, m := range members {
		point := unknown
		if row, ok := l.row(m.word); ok {
			found++
			point = unitVector(l.table.Vector(row))
		} else if unknown == nil {
			continue
		}
		number, ok := numbers[m.category]
		if !ok {
			number = len(numbers)
			numbers[m.category] = number
		}
		points, category = append(points, point), append(category, number)
	}
	score := NoScore
	if len(numbers) > 1 {
		cluster, err := kMeans(ctx, points, len(numbers), 1)
		if err != nil {
			return nil, err
		}
		score = purity(cluster, category)
	}
	return []Result{newResult(TaskCategorization, dataset, MetricPurity, score, found, len(members))}, nil
}

// unitVector returns v at length 1.
func unitVector(v []float32) []float64 {
	u := make([]float64, len(v))
	for k, x := range v {
		u[k] = float64(x)
	}
	if size := norm(u); size > 0 {
		for k := range u {
			u[k] /= size
		}
	}
	return u
}

// purity returns the share of items that are in a cluster of which their
// category is the most frequent one.
func purity(cluster, category []int) Score {
	type both struct{ cluster, category int }
	counts, most := make(map[both]int), make(map[int]int)
	for i, c := range cluster {
		b := both{c, category[i]}
		counts[b]++
		most[c] = max(most[c], counts[b])
	}
	right := 0
	for _, n := range most {
		right += n
	}
	return share(right, len(cluster))
}
