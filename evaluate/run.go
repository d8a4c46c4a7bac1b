package evaluate

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/embedding"
)

// Run scores a table on every similarity, analogy and categorization set in a
// folder, found recursively and told apart by content; dir may also be one such
// file. The results are in the order of the files' paths. notes name the files
// that are none of these, which are skipped, and those that hold the same items
// as another, which count once.
//
// Errors: an unknown option, a folder without any set, a bad line in a set
// (with file and line), a cancelled context.
func Run(ctx context.Context, t *embedding.Table, dir string, o Options) (results []Result, notes []string, err error) {
	l, sets, notes, err := prepare(t, dir, &o)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range sets {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r, err := score(ctx, l, d, o)
		if err != nil {
			return nil, nil, fmt.Errorf("scoring %s: %w", d.name, err)
		}
		results = append(results, r...)
	}
	return results, notes, nil
}

// prepare finds the sets of a folder, and what finds their words in a table. It
// fills in the options.
func prepare(t *embedding.Table, dir string, o *Options) (*lookup, []dataset, []string, error) {
	if err := o.check(); err != nil {
		return nil, nil, nil, err
	}
	sets, notes, err := findDatasets(dir, o.Task)
	if err != nil {
		return nil, nil, nil, err
	}
	return newLookup(t, *o), sets, notes, nil
}

func score(ctx context.Context, l *lookup, d dataset, o Options) ([]Result, error) {
	switch d.task {
	case TaskSimilarity:
		return similarity(l, d.name, d.pairs, o)
	case TaskCategorization:
		return categorization(ctx, l, d.name, d.members, o)
	default:
		return analogy(ctx, l, d.name, d.sections, o)
	}
}
