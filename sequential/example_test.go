package sequential_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/sequential"
)

// word2vec by hand: a text, the distribution of its negatives, a trainer, and units
// with a learning rate that falls.
func Example() {
	ctx := context.Background()
	sentences := strings.Repeat("the cat chased the dog\nthe dog chased the cat\n", 100)
	text, err := corpus.OpenFrom(ctx, strings.NewReader(sentences), "example", corpus.Options{}, corpus.Storage{})
	if err != nil {
		panic(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(text.Vocabulary.Counts, 0.75))
	if err != nil {
		panic(err)
	}
	t, err := sequential.New(text, noise, sequential.Options{
		Algorithm: sequential.Word2Vec, Dim: 16, Window: 2, Negatives: 2, Epochs: 3, Seed: 1, Threads: 1,
	})
	if err != nil {
		panic(err)
	}
	defer t.Close()
	first, last := 0.0, 0.0
	for unit := range t.Units() {
		report, err := t.Advance(ctx, unit, 0.2*(1-float64(unit)/float64(t.Units())))
		if err != nil {
			panic(err)
		}
		if last = report.Loss / report.Pairs; unit == 0 {
			first = last
		}
	}
	words, _ := t.Tables()
	fmt.Println(text.Vocabulary.Len(), "vectors,", len(words), "values")
	fmt.Println("the loss has fallen:", last < first)
	// Output:
	// 4 vectors, 64 values
	// the loss has fallen: true
}
