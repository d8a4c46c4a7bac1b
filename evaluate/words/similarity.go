package words

import (
	"fmt"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// similarity scores pairs: rank and linear correlation of cosine and human
// score.
func similarity(l *evaluate.Lookup, name string, pairs []dataset.Pair, o Options) ([]evaluate.Result, error) {
	composed, err := compose(l, pairs, o)
	if err != nil {
		return nil, err
	}
	vector := func(word string) (v []float32, known bool) {
		if row, ok := l.Row(word); ok {
			return l.Table.Vector(row), true
		}
		return composed[word], false
	}
	var all, known, other scored // other: with an unknown word
	for _, p := range pairs {
		first, known1 := vector(p.First)
		second, known2 := vector(p.Second)
		if first == nil || second == nil {
			continue
		}
		some := &known
		if !known1 || !known2 {
			some = &other
		}
		cosine := evaluate.Cosine(first, second)
		all.add(p.Score, cosine)
		some.add(p.Score, cosine)
	}
	result := func(metric string, correlation func(x, y []float64) float64) evaluate.Result {
		score := func(s scored) evaluate.Score { return evaluate.Score(correlation(s.human, s.model)) }
		r := newResult(evaluate.TaskSimilarity, name, metric, score(all), len(known.human), len(pairs))
		if o.Compose != nil {
			if r.Composed = len(other.human); r.Composed > 0 {
				r.Source = o.Source
			}
			if found, composed := score(known), score(other); found.Valid() && composed.Valid() {
				r.FoundScore, r.ComposedScore = found, composed
			}
		}
		return r
	}
	return []evaluate.Result{
		result(evaluate.MetricSpearman, evaluate.Spearman),
		result(evaluate.MetricPearson, evaluate.Pearson),
	}, nil
}

// scored are the scores of some pairs: human ones and cosines.
type scored struct{ human, model []float64 }

func (s *scored) add(human, model float64) {
	s.human, s.model = append(s.human, human), append(s.model, model)
}

// compose returns vectors for the words of pairs that are not in the table but have a known part.
func compose(l *evaluate.Lookup, pairs []dataset.Pair, o Options) (map[string][]float32, error) {
	if o.Compose == nil {
		return nil, nil
	}
	place := map[string]int{}
	var spelt []string
	for _, p := range pairs {
		for _, word := range []string{p.First, p.Second} {
			_, known := l.Row(word)
			if _, met := place[word]; known || met {
				continue
			}
			if spelling := l.Spelling(word); o.Parts == nil || o.Parts(spelling) > 0 {
				place[word] = len(spelt)
				spelt = append(spelt, spelling)
			}
		}
	}
	n := l.Table.Dim
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
