package walk

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// TestPromisesEnd: a graph that cannot be made leaves no promise of memory behind.
func TestPromisesEnd(t *testing.T) {
	const nodes, tries = 1 << 16, 40 // which take 8 MB each
	_, release := memory.NewGuard(memory.Resident() + nodes*128*tries/2)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range tries {
		e := &edges{rows: &rows{starts: make([]int, nodes+1)}, given: nodes}
		if _, _, err := newGraph(ctx, e, ReadOptions{Directed: true, Weighted: true, Threads: 1}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// TestSettled: what was read, and what walks along a meta-path add, is no longer promised.
func TestSettled(t *testing.T) {
	for _, path := range []string{"testdata/scipy.npz", "testdata/pecanpy.npz"} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		e, err := readArchive(t.Context(), f, info.Size(), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(e.store.dones); n > 0 {
			t.Errorf("%s: %d promises are left", path, n)
		}
	}
	g, _, err := typed(t, "a p\np b\n", "a A\nb A\np P\n", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Corpus(t.Context(), Options{MetaPath: []string{"A", "P"}}); err != nil {
		t.Fatal(err)
	}
	if n := len(g.store.dones); n > 0 {
		t.Errorf("%d promises are left of a graph with a meta-path", n)
	}
}
