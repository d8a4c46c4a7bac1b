package settings

import (
	"fmt"

	"github.com/w2vcl/w2vcl/walk"
)

// graphSettings say which walks over a graph are trained on, in place of a text.
func (c *Config) graphSettings() []Setting {
	return []Setting{
		{
			Name: "graph", Record: true, Resume: true, value: &c.Graph,
			help: "train on random walks over the graph at `PATH` in place of a text: two nodes a line; - is standard input",
		},
		{
			Name: "directed", Graph: true, Record: true, value: &c.Directed,
			help: "edges of the --graph lead from the first node to the second only",
		},
		{
			Name: "weighted", Graph: true, Record: true, value: &c.Weighted,
			help: "the third column of the --graph holds weights of the edges",
		},
		{
			Name: "walks", Aliases: []string{"num-walks"}, Graph: true, Record: true, value: &c.Walks,
			help: "`N` walks from each node of the --graph",
		},
		{
			Name: "walk-length", Graph: true, Record: true, value: &c.WalkLength,
			help: "`N` nodes in a walk",
		},
		{
			Name: "p", Graph: true, Record: true, value: &c.P,
			help: "return parameter `P` of node2vec: a small P often makes walks go straight back",
		},
		{
			Name: "q", Graph: true, Record: true, value: &c.Q,
			help: "in-out parameter `Q` of node2vec: a small Q makes walks lead far away",
		},
	}
}

func (v *validator) graph() {
	c := v.config
	v.check(c.Walks >= 1 && c.Walks <= walk.MaxWalks, "walks", "must be from 1 to %d", walk.MaxWalks)
	v.check(c.WalkLength >= 2 && c.WalkLength <= walk.MaxLength, "walk-length", "must be from 2 to %d", walk.MaxLength)
	between := fmt.Sprintf("must be from %g to %g", walk.MinParameter, walk.MaxParameter)
	v.check(c.P >= walk.MinParameter && c.P <= walk.MaxParameter, "p", "%s", between)
	v.check(c.Q >= walk.MinParameter && c.Q <= walk.MaxParameter, "q", "%s", between)
}

// WalkOptions returns the settings of the graph and of the walks over it.
func (c *Config) WalkOptions() (walk.ReadOptions, walk.Options) {
	return walk.ReadOptions{Directed: c.Directed, Weighted: c.Weighted, Threads: c.ThreadCount()},
		walk.Options{Walks: c.Walks, Length: c.WalkLength, P: c.P, Q: c.Q, Seed: c.Seed, Threads: c.ThreadCount()}
}
