package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/embedding"
)

// Items are the outcomes of a table on the single items of a data set, in the
// order of the file, from which the set's score and what chance has to do with
// it can be computed.
type Items struct {
	Task    string
	Dataset string
	Metric  string // MetricSpearman, or the method of analogies

	// Values holds a pair's cosine, or 1 for a question answered rightly and 0
	// for one answered wrongly; NaN where a word is not in the table.
	Values []float64
	// Human holds the judgements of the pairs; nil for questions.
	Human []float64
}

// RunItems is [Run], but returns the outcomes of single items: the cosines of
// similarity sets, and the answers to analogy questions by the first of the
// options' methods. Options.OOV is OOVSkip whatever it says.
func RunItems(ctx context.Context, t *embedding.Table, dir string, o Options) (all []Items, notes []string, err error) {
	l, sets, notes, err := prepare(t, dir, &o)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range sets {
		items := Items{Task: d.task, Dataset: d.name}
		switch d.task {
		case TaskSimilarity:
			items.Metric = MetricSpearman
			items.addPairs(l, d.pairs)
		case TaskAnalogy:
			items.Metric = string(o.Methods[0])
			err = items.answer(ctx, l, d.sections, o.Methods[0])
		default: // a set that is scored as a whole
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("scoring %s: %w", d.name, err)
		}
		all = append(all, items)
	}
	return all, notes, nil
}

func (i *Items) addPairs(l *lookup, pairs []pair) {
	for _, p := range pairs {
		value := math.NaN()
		if r, ok := l.rows(p.first, p.second); ok {
			value = cosine(l.table.Vector(r[0]), l.table.Vector(r[1]))
		}
		i.Values, i.Human = append(i.Values, value), append(i.Human, p.score)
	}
}

func (i *Items) answer(ctx context.Context, l *lookup, sections []section, m Method) error {
	if m == LRCos {
		return fmt.Errorf("%s has no outcomes of single questions; use %s or %s", m, CosAdd, CosMul)
	}
	for _, s := range sections {
		p := newPass(l)
		var asked []int // where the answers go
		for _, q := range s.questions {
			if r, ok := l.rows(q.a, q.b, q.c, q.d); ok {
				asked = append(asked, len(i.Values))
				p.ask(m, rows{r[0], r[1], r[2], r[3]})
			}
			i.Values = append(i.Values, math.NaN())
		}
		right, err := p.answers(ctx)
		if err != nil {
			return err
		}
		for k, at := range asked {
			i.Values[at] = 0
			if right[k] {
				i.Values[at] = 1
			}
		}
	}
	return nil
}

// Found counts the items whose words are in the table.
func (i Items) Found() int {
	found := 0
	for _, v := range i.Values {
		if !math.IsNaN(v) {
			found++
		}
	}
	return found
}
