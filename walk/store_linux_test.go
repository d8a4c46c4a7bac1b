package walk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// TestFiles: a graph that memory is too small for is in files without names, and is the same.
func TestFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var lines bytes.Buffer
	size := 100_000 // several chunks of text, blocks of nodes and files
	if testing.Short() {
		size = 30_000
	}
	for range size {
		i, j := random.IntN(size/15), random.IntN(size/15)
		fmt.Fprintln(&lines, i, j, 1+(i^j)%9)
	}
	for _, weighted := range []bool{false, true} {
		o := ReadOptions{Weighted: weighted, Threads: 2}
		want, _, err := read(t.Context(), source(lines.String()), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Folder, o.always = t.TempDir(), true
		got, _, err := read(t.Context(), source(lines.String()), o)
		if err != nil {
			t.Fatal(err)
		}
		if !got.store.inFiles() || want.store.inFiles() {
			t.Fatalf("in files: %t, %t", got.store.inFiles(), want.store.inFiles())
		}
		if left, _ := os.ReadDir(o.Folder); len(left) > 0 {
			t.Errorf("the folder holds %v", left)
		}
		if !slices.Equal(got.Names, want.Names) || !slices.Equal(got.starts, want.starts) || !slices.Equal(got.ends, want.ends) || !slices.Equal(got.weights, want.weights) {
			t.Error("another graph")
		}
		w := Options{Walks: 1, Length: 20, Threads: 2}
		if text(t, got, w) != text(t, want, w) {
			t.Error("other walks")
		}
		c, err := got.Corpus(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
