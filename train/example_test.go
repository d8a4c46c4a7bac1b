package train_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A run, as w2vcl train makes it: settings, training, vectors. Messages go to nobody;
// progress.New(os.Stderr) in place of nil shows them.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	text := strings.Repeat("the cat and the dog are pets\na bus or a car is for roads\n", 50)
	corpus, out := filepath.Join(dir, "text.txt"), filepath.Join(dir, "run")
	if err := os.WriteFile(corpus, []byte(text), 0o600); err != nil {
		panic(err)
	}
	config, err := settings.Resolve("", map[string]string{ // as flags of w2vcl train
		"corpus": corpus, "out": out, "dim": "8", "iterations": "200", "sample": "0", "min-count": "2",
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	summary, err := train.Run(ctx, config, train.Options{}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(summary.Mode, summary.Vocab, "words", summary.Iterations, "iterations")

	vectors, err := runfolder.LoadVectors(context.Background(), out)
	if err != nil {
		panic(err)
	}
	found, err := vectors.Lookup([]string{"cat"})
	if err != nil {
		panic(err)
	}
	fmt.Println(found[0].Word, len(found[0].Vector), "values")
	// Output:
	// cl 13 words 200 iterations
	// cat 8 values
}
