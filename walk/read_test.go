package walk

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// list returns the edges of a graph as text, such as "a-b:2", in the order of this text. An
// undirected edge begins with the name that comes first.
func list(g *Graph) string {
	var edges []string
	c := g.edges()
	for i, from := range c.from {
		edge := g.Names[from] + "-" + g.Names[c.to[i]]
		if back := g.Names[c.to[i]] + "-" + g.Names[from]; !g.Directed {
			edge = min(edge, back)
		}
		if g.weights != nil {
			edge += fmt.Sprintf(":%g", c.weights[i])
		}
		edges = append(edges, edge)
	}
	slices.Sort(edges)
	return strings.Join(edges, " ")
}

// zipped returns the text compressed with gzip.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// checkGraph checks that the graph of some edges is in order.
func checkGraph(t *testing.T, e *edges, o ReadOptions) {
	t.Helper()
	g, _, err := newGraph(t.Context(), e, o)
	if err != nil {
		return
	}
	for i := range g.Names {
		neighbours := g.neighbours(uint32(i))
		if !slices.IsSorted(neighbours) || len(slices.Compact(slices.Clone(neighbours))) != len(neighbours) {
			t.Fatalf("neighbours of %d: %v", i, neighbours)
		}
		for _, to := range neighbours {
			if _, ok := g.edge(to, uint32(i)); !ok && !o.Directed {
				t.Fatalf("there is no edge back from %d to %d", to, i)
			}
		}
	}
	if !slices.IsSortedFunc(g.mass, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Fatalf("masses %v", g.mass)
	}
	checkWritten(t, g)
	if _, err := g.Corpus(t.Context(), Options{Walks: 1, Length: 3, Threads: 1}); err != nil {
		t.Fatal(err)
	}
}

// FuzzRead checks that no content makes Read panic and that every graph is in order.
func FuzzRead(f *testing.F) {
	for _, content := range []string{
		"a b\n", "a,b,1\nb,a,2\n", "x;y;\"z\"\n", "1 1\n", "\x1f\x8b", "1 99999999999\n", "18446744073709551615 0\n1\t2\t0.5\r\n",
	} {
		f.Add(content, true, false)
		f.Add(content, false, true)
	}
	f.Fuzz(func(t *testing.T, content string, directed, weighted bool) {
		o := ReadOptions{Directed: directed, Weighted: weighted, Threads: 1}
		e, err := readEdges(t.Context(), source(content), o)
		if err == nil && e.count() > 0 {
			checkGraph(t, e, o)
		}
	})
}
