package main

import (
	"context"
	"runtime"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/sentences"
	"github.com/w2vcl/w2vcl/train/progress"
)

// classify scores vectors on the sentence classification sets of --data.
func (o *evalOptions) classify(ctx context.Context, s cli.Streams, t *embedding.Table) ([]evaluate.Result, error) {
	shown := s.Progress(o.quiet)
	var stage *progress.Stage // of a set
	progress := func(dataset string, done, total int) {
		if done == 0 {
			stage.Stop()
			stage = shown.Stage(dataset, int64(total))
		}
		stage.Update(int64(done), nil)
		if done == total {
			stage.Done("%s: %d of %d networks", dataset, done, total)
		}
	}
	options := sentences.Options{Restrict: o.restrict, Threads: runtime.GOMAXPROCS(0), Progress: progress}
	defer func() { stage.Stop() }()
	results, notes, err := sentences.Score(ctx, t, o.data, options)
	for _, note := range notes {
		s.Notef("%s", note)
	}
	return results, err
}
