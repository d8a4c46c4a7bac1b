package evaluate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate/words"
)

// A table of vectors, scored on all sets of a folder.
func Example() {
	dir, err := os.MkdirTemp("", "sets")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	pairs := "cat dog 9\ncat car 2\ncar bus 8\ndog bus 1\ncat unicorn 5\n"
	if err := os.WriteFile(filepath.Join(dir, "pairs.txt"), []byte(pairs), 0o600); err != nil {
		panic(err)
	}
	table, err := embedding.NewTable([]string{"cat", "dog", "car", "bus"}, 2, []float32{1, 0, 1, 0.1, 0, 1, -0.2, 1})
	if err != nil {
		panic(err)
	}
	results, _, err := words.Score(context.Background(), table, dir, words.Options{})
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		fmt.Printf("%s %s %s %.2f, %d of %d\n", r.Task, r.Dataset, r.Metric, r.Score, r.Found, r.Total)
	}
	// Output:
	// similarity pairs spearman 1.00, 4 of 5
	// similarity pairs pearson 1.00, 4 of 5
}
