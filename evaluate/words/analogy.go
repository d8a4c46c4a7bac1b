package words

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// A tally counts the answers to some questions.
type tally struct{ right, found, total int }

func (t *tally) add(o tally) {
	t.right += o.right
	t.found += o.found
	t.total += o.total
}

// score is the share of right answers among the questions with known words.
func (t tally) score() evaluate.Score { return evaluate.Fraction(t.right, t.found) }

func analogy(ctx context.Context, l *evaluate.Lookup, set string, sections []dataset.Section, o Options) ([]evaluate.Result, error) {
	tallies := make([]map[Method]tally, len(sections))
	for i, s := range sections {
		var err error
		if tallies[i], err = answerSection(ctx, l, s, i, o); err != nil {
			return nil, err
		}
	}
	var results []evaluate.Result
	for _, m := range o.Methods {
		var all tally
		var shares []float64
		var bySection []evaluate.Result
		for i, s := range sections {
			t, ok := tallies[i][m]
			if !ok {
				continue
			}
			all.add(t)
			score := t.score()
			if score.Valid() {
				shares = append(shares, float64(score))
			}
			if o.Sections && s.Name != "" {
				bySection = append(bySection, newResult(evaluate.TaskAnalogy, set+"/"+s.Name, string(m), score, t.found, t.total))
			}
		}
		if all.total == 0 {
			continue // LRCos without sections
		}
		macro := evaluate.NoScore
		if len(shares) > 0 {
			macro = evaluate.Score(stat.Mean(shares, nil))
		}
		results = append(results,
			newResult(evaluate.TaskAnalogy, set, string(m), all.score(), all.found, all.total),
			newResult(evaluate.TaskAnalogy, set, string(m)+evaluate.MacroSuffix, macro, all.found, all.total))
		results = append(results, bySection...)
	}
	return results, nil
}

// mostSearches bounds the memory of searches, some hundred bytes for each method of a question. Sections of published
// sets are smaller.
const mostSearches = 8000

// answerSection answers the questions of one section with every method. All
// methods need the cosines of the section's words with the whole table, so
// they share one pass over it. The section's number seeds LRCos.
func answerSection(ctx context.Context, l *evaluate.Lookup, s dataset.Section, number int, o Options) (map[Method]tally, error) {
	found := make([]rows, 0, len(s.Questions))
	for _, q := range s.Questions {
		if r, ok := rowsOf(l, q); ok {
			found = append(found, r)
		}
	}
	p := newPass(l, o.threads())
	tallies, right := make(map[Method]tally), make(map[Method]int)
	search := func() error {
		some, err := p.run(ctx)
		for m, n := range some {
			right[m] += n
		}
		p = newPass(l, o.threads())
		return err
	}
	for _, m := range o.Methods {
		if m != LRCos {
			tallies[m] = tally{found: len(found), total: len(s.Questions)}
		} else if s.Name != "" { // else it is not one relation
			pairs, total := distinctPairs(l, s.Questions)
			asked, err := p.askClasses(ctx, pairs, uint64(number))
			if err != nil {
				return nil, err
			}
			tallies[m] = tally{found: asked, total: total}
		}
	}
	for part := range slices.Chunk(found, mostSearches) {
		for _, m := range o.Methods {
			for _, q := range part {
				if m != LRCos {
					p.ask(m, q)
				}
			}
		}
		if err := search(); err != nil {
			return nil, err
		}
	}
	if err := search(); err != nil { // without questions, those of LRCos
		return nil, err
	}
	for m, t := range tallies {
		t.right = right[m]
		tallies[m] = t
	}
	return tallies, nil
}

func newResult(task, set, metric string, score evaluate.Score, found, total int) evaluate.Result {
	return evaluate.Result{Task: task, Dataset: set, Metric: metric, Score: score, Found: found, Total: total}
}
