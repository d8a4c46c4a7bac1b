package evaluate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A question "a is to b as c is to ?" has the answer d.
type question struct{ a, b, c, d string }

// A section is a relation and its questions. A file without sections is one
// section without a name.
type section struct {
	name      string
	questions []question
}

// wordClasses is the fourth column of MSR's questions, as JJ_JJR: adjective to
// comparative.
var wordClasses = regexp.MustCompile(`^[A-Za-z$]+_[A-Za-z$]+$`)

// parseQuestion reads "a b c d", or MSR's "a b c JJ_JJR d", whose fourth
// column names the section.
func parseQuestion(line string) (q question, section string, err error) {
	f := strings.Fields(line)
	switch {
	case len(f) == 4:
		return question{f[0], f[1], f[2], f[3]}, "", nil
	case len(f) == 5 && wordClasses.MatchString(f[3]):
		return question{f[0], f[1], f[2], f[4]}, f[3], nil
	}
	return question{}, "", fmt.Errorf("%d words; a question has 4", len(f))
}

// readAnalogies reads a file of analogy questions in the format of
// questions-words.txt: a line ": name" begins a section, a line of four words
// is a question, lines beginning with '#' or "//" are comments. Errors name
// the file and the line.
func readAnalogies(path string) ([]section, error) {
	lines, err := readLines(path)
	if err != nil {
		return nil, err
	}
	var sections []section
	open := func(name string) *section {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			i = len(sections)
			sections = append(sections, section{name: name})
		}
		return &sections[i]
	}
	name := ""
	for _, line := range lines {
		if strings.HasPrefix(line.text, ":") {
			if name = strings.TrimSpace(line.text[1:]); name == "" {
				return nil, fmt.Errorf("%s:%d: the section has no name", path, line.number)
			}
			continue
		}
		q, class, err := parseQuestion(line.text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line.number, err)
		}
		if class == "" {
			class = name
		}
		s := open(class)
		s.questions = append(s.questions, q)
	}
	if len(sections) == 0 {
		return nil, fmt.Errorf("%s: no questions", path)
	}
	return sections, nil
}

// A tally counts the answers to some questions.
type tally struct{ right, found, total int }

func (t *tally) add(o tally) {
	t.right += o.right
	t.found += o.found
	t.total += o.total
}

// score is the share of right answers: of the questions with known words, or
// of all of them where unknown words count as wrong.
func (t tally) score(rule OOV) Score {
	if rule == OOVSkip || rule == OOVCompose {
		return share(t.right, t.found)
	}
	return share(t.right, t.total)
}

// analogy scores the sections with each method.
func analogy(ctx context.Context, l *lookup, dataset string, sections []section, o Options) ([]Result, error) {
	tallies := make([]map[Method]tally, len(sections))
	for i, s := range sections {
		var err error
		if tallies[i], err = answerSection(ctx, l, s, i, o.Methods); err != nil {
			return nil, err
		}
	}
	var results []Result
	for _, m := range o.Methods {
		var all tally
		var shares []float64
		var rows []Result
		for i, s := range sections {
			t, ok := tallies[i][m]
			if !ok {
				continue
			}
			all.add(t)
			score := t.score(o.OOV)
			if score.Valid() {
				shares = append(shares, float64(score))
			}
			if o.Sections && s.name != "" {
				rows = append(rows, newResult(TaskAnalogy, dataset+"/"+s.name, string(m), score, t.found, t.total))
			}
		}
		if all.total == 0 {
			continue // LRCos without sections
		}
		macro := NoScore
		if len(shares) > 0 {
			macro = Score(mean(shares))
		}
		results = append(results,
			newResult(TaskAnalogy, dataset, string(m), all.score(o.OOV), all.found, all.total),
			newResult(TaskAnalogy, dataset, string(m)+MacroSuffix, macro, all.found, all.total))
		results = append(results, rows...)
	}
	return results, nil
}

// answerSection answers the questions of one section with every method. All
// methods need the cosines of the section's words with the whole table, so
// they share one pass over it. The section's number seeds LRCos.
func answerSection(ctx context.Context, l *lookup, s section, number int, methods []Method) (map[Method]tally, error) {
	var found []rows
	for _, q := range s.questions {
		if r, ok := l.rows(q.a, q.b, q.c, q.d); ok {
			found = append(found, rows{r[0], r[1], r[2], r[3]})
		}
	}
	p := newPass(l)
	tallies := make(map[Method]tally)
	for _, m := range methods {
		if m != LRCos {
			for _, q := range found {
				p.ask(m, q)
			}
			tallies[m] = tally{found: len(found), total: len(s.questions)}
		} else if s.name != "" { // else it is not one relation
			pairs, total := distinctPairs(l, s.questions)
			asked, err := p.askClasses(ctx, pairs, uint64(number))
			if err != nil {
				return nil, err
			}
			tallies[m] = tally{found: asked, total: total}
		}
	}
	right, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	for m, t := range tallies {
		t.right = right[m]
		tallies[m] = t
	}
	return tallies, nil
}
