package words

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// Score scores a table on every similarity, analogy and categorization set in a
// folder, found recursively and told apart by content; dir may also be one such
// file. The results are in the order of the files' paths. notes name two kinds of
// files: those that are no set, which are skipped, and those that hold the same
// items as another, which count once.
//
// Errors: an unknown option, a folder without any set, a bad line in a set
// (with file and line), a cancelled context.
func Score(ctx context.Context, t *embedding.Table, dir string, o Options) (results []evaluate.Result, notes []string, err error) {
	l, sets, notes, err := prepare(ctx, t, dir, &o)
	if err != nil {
		return nil, nil, err
	}
	for i := range sets {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if o.Progress != nil {
			o.Progress(sets[i].Name, i, len(sets))
		}
		r, err := scoreSet(ctx, l, &sets[i], o)
		if err != nil {
			return nil, nil, fmt.Errorf("scoring %s: %w", sets[i].Name, err)
		}
		results = append(results, r...)
	}
	return results, notes, nil
}

// IsMain reports whether a result is by the main metric of its set: Spearman's
// correlation, questions answered by 3CosAdd, and whatever a set of another task has. Sections of an analogy set have the metrics of the set.
func IsMain(r evaluate.Result) bool {
	switch r.Task {
	case evaluate.TaskSimilarity:
		return r.Metric == evaluate.MetricSpearman
	case evaluate.TaskAnalogy:
		return Method(r.Metric) == CosAdd
	default:
		return true
	}
}

// Sets are the sets of a folder, for many scores: to read them takes longer than to score few words on them.
type Sets struct {
	sets  []dataset.Set
	notes []string
}

// ReadSets reads the sets that [Score] would read, of one task or, if it is empty, of all.
func ReadSets(ctx context.Context, dir, task string) (*Sets, error) {
	sets, notes, err := dataset.Find(ctx, dir, task)
	if err != nil {
		return nil, err
	}
	return &Sets{sets, notes}, nil
}

// Contained names the sets that repeat a larger one, as [dataset.Contained] does.
func (s *Sets) Contained() map[string]string { return dataset.Contained(s.sets) }

// prepare fills in the options, and finds the sets of a folder.
func prepare(ctx context.Context, t *embedding.Table, dir string, o *Options) (*evaluate.Lookup, []dataset.Set, []string, error) {
	if err := o.check(); err != nil {
		return nil, nil, nil, err
	}
	if o.Sets == nil {
		var err error
		if o.Sets, err = ReadSets(ctx, dir, o.Task); err != nil {
			return nil, nil, nil, err
		}
	}
	l, err := evaluate.NewLookup(t, o.Restrict)
	return l, o.Sets.sets, o.Sets.notes, err
}

func scoreSet(ctx context.Context, l *evaluate.Lookup, s *dataset.Set, o Options) ([]evaluate.Result, error) {
	switch s.Task {
	case evaluate.TaskSimilarity:
		return similarity(l, s.Name, s.Pairs, o)
	case evaluate.TaskCategorization:
		return categorization(ctx, l, s.Name, s.Members)
	default:
		return analogy(ctx, l, s.Name, s.Sections, o)
	}
}
