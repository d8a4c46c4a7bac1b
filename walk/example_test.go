package walk_test

import (
	"context"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/walk"
)

// The walks of a graph are a text for any trainer of word vectors.
func Example() {
	dir, err := os.MkdirTemp("", "graph")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "edges.txt")
	if err := os.WriteFile(path, []byte("ann ben\nben cleo\ncleo dan\n"), 0o600); err != nil {
		panic(err)
	}
	g, _, err := walk.Read(context.Background(), path, walk.ReadOptions{})
	if err != nil {
		panic(err)
	}
	if err := g.WriteWalks(context.Background(), os.Stdout, walk.Options{Walks: 1, Length: 5, Seed: 1}); err != nil {
		panic(err)
	}
	// Output:
	// ben ann ben ann ben
	// cleo dan cleo ben cleo
	// ann ben ann ben ann
	// dan cleo ben ann ben
}
