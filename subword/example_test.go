package subword_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/subword"
)

// Words that share n-grams have vectors that are alike, before any training. An
// encoder in a file gives any word a vector; graph.Options.Encoder trains one.
func ExampleNGrams() {
	e, err := subword.NewNGrams([]string{"running", "runner", "table", "walk"}, subword.NGramOptions{Dim: 100})
	if err != nil {
		panic(err)
	}
	e.Randomize(1)
	dir, err := os.MkdirTemp("", "encoder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "encoder.safetensors")
	if err := subword.Save(path, e, make([]float32, e.Dim())); err != nil {
		panic(err)
	}
	loaded, err := subword.Load(path)
	if err != nil {
		panic(err)
	}
	vectors := make([]float32, 3*loaded.Dim())
	if err := loaded.Encode([]string{"running", "runnings", "tables"}, vectors); err != nil {
		panic(err)
	}
	running, unseen, other := vectors[:100], vectors[100:200], vectors[200:]
	fmt.Println("runnings is like running:", evaluate.Cosine(running, unseen) > 0.7)
	fmt.Println("tables is like running:", evaluate.Cosine(running, other) > 0.7)
	// Output:
	// runnings is like running: true
	// tables is like running: false
}
