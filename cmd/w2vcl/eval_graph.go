package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/nodes"
	"github.com/w2vcl/w2vcl/walk"
)

func (o *evalOptions) scoreGraph(ctx context.Context, t *embedding.Table) ([]evaluate.Result, error) {
	dataset := nodes.SetName(o.data)
	if o.task == evaluate.TaskLinks {
		links, err := nodes.ReadLinks(ctx, o.data)
		if err != nil {
			return nil, err
		}
		return o.scoreLinks(ctx, t, dataset, links)
	}
	labels, err := nodes.ReadLabels(ctx, o.data)
	if err != nil {
		return nil, err
	}
	return nodes.ScoreLabels(ctx, t, dataset, labels, o.nodes)
}

// scoreLinks scores predictions of edges.
func (o *evalOptions) scoreLinks(ctx context.Context, t *embedding.Table, dataset string, links []nodes.Link) ([]evaluate.Result, error) {
	results, err := nodes.ScoreLinks(ctx, t, dataset, links, o.nodes.Seed)
	if err != nil {
		return nil, err
	}
	var known iter.Seq2[string, string]
	if o.graph != "" {
		g, _, err := walk.Read(ctx, o.graph, walk.ReadOptions{Directed: true}) // either direction is known then
		if err != nil {
			return nil, err
		}
		if err := o.checkHeldOut(links, g); err != nil {
			return nil, err
		}
		known = g.Named()
	}
	ranks, err := nodes.ScoreRanks(ctx, t, dataset, links, known, o.nodes.Seed)
	return append(results, ranks...), err
}

// checkHeldOut refuses a graph that contains edges to predict: a run that trained on it has seen them.
func (o *evalOptions) checkHeldOut(links []nodes.Link, g *walk.Graph) error {
	held := map[nodes.Link]bool{}
	for _, l := range links {
		if l.Edge {
			held[l] = true
		}
	}
	trained, example := 0, nodes.Link{}
	for from, to := range g.Named() {
		if l := (nodes.Link{From: from, To: to, Edge: true}); held[l] {
			trained, example = trained+1, l
		}
	}
	if trained == 0 {
		return nil
	}
	return fmt.Errorf("--graph %s has %d of the %d edges to predict, such as %s %s: pass the graph that 'w2vcl walk --rest-out' wrote with %s",
		o.graph, trained, len(held), example.From, example.To, o.data)
}
