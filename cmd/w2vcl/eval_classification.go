package main

import (
	"context"
	"runtime"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/sentences"
)

// classify scores vectors on the sentence classification sets of --data.
func (o *evalOptions) classify(ctx context.Context, s streams, t *embedding.Table) ([]evaluate.Result, error) {
	progress := func(dataset string, done, total int) {
		s.notef("%s: %d of %d networks", dataset, done, total)
	}
	options := sentences.Options{Lookup: o.lookup, Threads: runtime.GOMAXPROCS(0), Progress: progress}
	results, notes, err := sentences.Score(ctx, t, o.data, options)
	for _, note := range notes {
		s.notef("%s", note)
	}
	return results, err
}
