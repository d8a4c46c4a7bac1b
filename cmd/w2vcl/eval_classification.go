package main

import (
	"context"
	"runtime"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
)

// classify scores vectors on the sentence classification sets of --data.
func (o *evalOptions) classify(ctx context.Context, s streams, t *embedding.Table) ([]evaluate.Result, error) {
	progress := func(dataset string, done, total int) {
		s.notef("%s: %d of %d networks", dataset, done, total)
	}
	options := evaluate.Options{CaseSensitive: o.caseSensitive, RestrictVocab: o.restrict}
	results, notes, err := evaluate.Classification(ctx, t, o.data, options, runtime.GOMAXPROCS(0), progress)
	for _, note := range notes {
		s.notef("%s", note)
	}
	return results, err
}
