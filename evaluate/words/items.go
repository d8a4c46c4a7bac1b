package words

import (
	"context"
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// Items is [Score], but returns the outcomes of single items: the cosines of
// similarity sets, and the answers to analogy questions by the first of the
// options' methods. Unknown words are left out, whatever Options.OOV says.
func Items(ctx context.Context, t *embedding.Table, dir string, o Options) (all []evaluate.Items, notes []string, err error) {
	l, sets, notes, err := prepare(ctx, t, dir, &o)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sets {
		items := evaluate.Items{Task: s.Task, Dataset: s.Name}
		switch s.Task {
		case evaluate.TaskSimilarity:
			items.Metric = evaluate.MetricSpearman
			items.Values, items.Human = pairItems(l, s.Pairs)
		case evaluate.TaskAnalogy:
			items.Metric = string(o.Methods[0])
			items.Values, err = questionItems(ctx, l, s.Sections, o)
		default: // a set that is scored as a whole
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("scoring %s: %w", s.Name, err)
		}
		all = append(all, items)
	}
	return all, notes, nil
}

// pairItems returns the cosine of each pair, NaN if a word is unknown, and the
// judgements.
func pairItems(l *evaluate.Lookup, pairs []dataset.Pair) (cosines, human []float64) {
	for _, p := range pairs {
		cosine := math.NaN()
		if r, ok := l.Rows(p.First, p.Second); ok {
			cosine = evaluate.Cosine(l.Table.Vector(r[0]), l.Table.Vector(r[1]))
		}
		cosines, human = append(cosines, cosine), append(human, p.Score)
	}
	return cosines, human
}

// questionItems returns 1 for each right answer and 0 for each wrong one, NaN if a
// word is unknown.
func questionItems(ctx context.Context, l *evaluate.Lookup, sections []dataset.Section, o Options) (values []float64, err error) {
	m := o.Methods[0]
	if m == LRCos {
		return nil, fmt.Errorf("%s has no outcomes of single questions; use %s or %s", m, CosAdd, CosMul)
	}
	for _, s := range sections {
		p := newPass(l, o.threads())
		var asked []int // where the answers go
		for _, q := range s.Questions {
			if r, ok := rowsOf(l, q); ok {
				asked = append(asked, len(values))
				p.ask(m, r)
			}
			values = append(values, math.NaN())
		}
		right, err := p.answers(ctx)
		if err != nil {
			return nil, err
		}
		for k, at := range asked {
			values[at] = 0
			if right[k] {
				values[at] = 1
			}
		}
	}
	return values, nil
}
