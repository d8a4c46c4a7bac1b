package subword_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"gorgonia.org/gorgonia"
)

// A network of another package: characters in any order. Programs register it in an init function.
func ExampleRegister() {
	subword.Register(subword.Network{
		Name: "bag", Help: "characters in any order", Settings: []string{"char-dim"},
		Matrices: func(o subword.NetworkOptions, symbols int) ([]subword.Matrix, int, error) {
			return []subword.Matrix{{Name: "symbols", Rows: symbols, Columns: o.CharDim, OfSymbols: true}}, o.CharDim, nil
		},
		Features: func(_ subword.NetworkOptions, words *subword.Symbols, p gorgonia.Nodes) (*gorgonia.Node, error) {
			sum := words.At(0, p[0])
			for place := 1; place < words.Len(); place++ {
				sum = gorgonia.Must(gorgonia.Add(sum, words.At(place, p[0])))
			}
			return gorgonia.Tanh(sum)
		},
	})
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	corpus, out := filepath.Join(dir, "text.txt"), filepath.Join(dir, "run")
	if err := os.WriteFile(corpus, []byte(strings.Repeat("the cat and the dog are pets\n", 50)), 0o600); err != nil {
		panic(err)
	}
	config, err := settings.Resolve("", map[string]string{
		"corpus": corpus, "out": out, "dim": "8", "iterations": "20", "negative": "2", "subword": "bag", "char-dim": "4",
	})
	if err != nil {
		panic(err)
	}
	if _, err := train.Run(context.Background(), config, train.Options{}, nil); err != nil {
		panic(err)
	}
	vectors, err := runfolder.LoadVectors(context.Background(), out)
	if err != nil {
		panic(err)
	}
	found, err := vectors.Lookup([]string{"cats", "scat"})
	if err != nil {
		panic(err)
	}
	fmt.Println(found[0].Origin, evaluate.Cosine(found[0].Vector, found[1].Vector) > 0.999)
	// Output: from the encoder bag true
}

// docs/encoder.md has the whole of recurrent.go, without its comments.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/encoder.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("recurrent.go")
	if err != nil {
		t.Fatal(err)
	}
	code = regexp.MustCompile(`(?m)^//.*\n`).ReplaceAll(code, nil)
	if !bytes.Contains(page, append(append([]byte("```go\n"), code...), "```\n"...)) {
		t.Error("docs/encoder.md has another recurrent.go")
	}
}
