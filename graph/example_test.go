package graph_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// W2V-CL by hand: the matrix M of a text, and iterations over all its words.
func ExampleCL() {
	ctx := context.Background()
	sentences := strings.Repeat("the cat chased the dog\nthe dog chased the cat\n", 10)
	text, err := corpus.OpenFrom(ctx, strings.NewReader(sentences), "example", corpus.Options{}, corpus.Storage{})
	if err != nil {
		panic(err)
	}
	const iterations = 60
	m, err := wordcontext.Build(ctx, text, wordcontext.Options{Window: 2, Contexts: iterations, Passes: 1, Seed: 1})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	negatives, err := corpus.NewAlias(corpus.CountPower(m.ContextCounts(), 1))
	if err != nil {
		panic(err)
	}
	t, err := graph.NewCL(m, negatives, iterations, graph.Options{
		Dim: 8, Negatives: 2, Seed: 1, Optimizer: optim.Options{Method: optim.Adam},
	})
	if err != nil {
		panic(err)
	}
	defer t.Close()
	first, last := 0.0, 0.0
	for i := range t.Units() {
		report, err := t.Advance(ctx, i, 0.05)
		if err != nil {
			panic(err)
		}
		if last = report.Loss / report.Pairs; i == 0 {
			first = last
		}
	}
	words, contexts := t.Tables()
	fmt.Println("W has", len(words), "values, C has", len(contexts))
	fmt.Println("the loss has fallen:", last < first)
	// Output:
	// W has 32 values, C has 32
	// the loss has fallen: true
}
