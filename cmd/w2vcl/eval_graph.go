package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/nodes"
)

// scoreGraph scores vectors of a graph's nodes.
func (o *evalOptions) scoreGraph(ctx context.Context, t *embedding.Table) ([]evaluate.Result, error) {
	base := filepath.Base(o.data)
	dataset := strings.TrimSuffix(base, filepath.Ext(base))
	if o.task == evaluate.TaskLinks {
		links, err := nodes.ReadLinks(ctx, o.data)
		if err != nil {
			return nil, err
		}
		return nodes.ScoreLinks(ctx, t, dataset, links, o.nodes.Seed)
	}
	labels, err := nodes.ReadLabels(ctx, o.data, o.matrix)
	if err != nil {
		return nil, err
	}
	return nodes.ScoreLabels(ctx, t, dataset, labels, o.nodes)
}
