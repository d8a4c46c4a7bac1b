package dataset

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/evaluate"
)

// A Member is a word and the category that people put it into.
type Member struct{ Word, Category string }

// memberColumns says which columns of a file hold what.
type memberColumns struct {
	word, category, last int
	suffix               string // behind the words, to be cut off
	titles               bool   // in the first line
}

// categories makes a format of words and their categories. open looks at the
// columns of the first line; ok is false if the file has another format.
func categories(name, example string, open func(first []string) (c memberColumns, ok bool)) Format {
	matches := func(lines []string) bool {
		first, err := columnReader(strings.Join(lines, "\n")).Read()
		if err != nil {
			return false
		}
		_, ok := open(first)
		return ok
	}
	read := func(_ context.Context, path string, s *Set) (err error) {
		s.Members, err = readMembers(path, open)
		return err
	}
	return Format{Task: evaluate.TaskCategorization, Name: name, Example: example, matches: matches, read: read}
}

func titledColumns(first []string) (c memberColumns, ok bool) {
	c = memberColumns{word: -1, category: -1, titles: true}
	for column, title := range first {
		switch strings.ToLower(strings.TrimSpace(title)) {
		case "word", "words", "concept":
			c.word = column
		case "category", "categories", "class":
			c.category = column
		}
	}
	c.last = max(c.word, c.category)
	return c, c.word >= 0 && c.category >= 0
}

// blessRelations are the relations of BLESS between a concept and another word.
var blessRelations = []string{"attri", "coord", "event", "hyper", "mero", "random-j", "random-n", "random-v"}

// blessColumns knows BLESS, whose lines are a concept with "-n" behind it, its
// class, a relation and another word.
func blessColumns(first []string) (c memberColumns, ok bool) {
	ok = len(first) == 4 && slices.Contains(blessRelations, first[2]) && strings.HasSuffix(first[0], "-n")
	return memberColumns{word: 0, category: 1, last: 2, suffix: "-n"}, ok
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

// readMembers reads words with their categories. Each couple of word and category
// counts once; a line without a word, of which the published AP has one for each
// category, counts as none.
func readMembers(path string, open func(first []string) (memberColumns, bool)) ([]Member, error) {
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var c memberColumns
	var members []Member
	seen := make(map[Member]bool)
	r := columnReader(string(content))
	for first := true; ; first = false {
		fields, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if first {
			var ok bool
			if c, ok = open(fields); !ok { // a comment that csv does not know
				return nil, fmt.Errorf("%s: no titles \"category\" and \"word\" in the first line", path)
			}
			if c.titles {
				continue
			}
		}
		m, err := c.parse(fields)
		if err != nil {
			number, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if m.Word != "" && !seen[m] {
			seen[m] = true
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("%s: no words", path)
	}
	return members, nil
}

func (c memberColumns) parse(fields []string) (Member, error) {
	if len(fields) <= c.last {
		return Member{}, fmt.Errorf("%d columns, but %d are needed", len(fields), c.last+1)
	}
	word, category := strings.TrimSpace(fields[c.word]), strings.TrimSpace(fields[c.category])
	if category == "" {
		return Member{}, errors.New("the category is missing")
	}
	return Member{strings.TrimSuffix(word, c.suffix), category}, nil
}
