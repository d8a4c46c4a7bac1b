package walk

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/w2vcl/w2vcl/internal/textfile"
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

func TestRead(t *testing.T) {
	directed, weighted := ReadOptions{Directed: true}, ReadOptions{Weighted: true}
	for name, c := range map[string]struct {
		content string
		o       ReadOptions
		want    string
		notes   string
	}{
		"spaces":           {"a b\nb  c\n", ReadOptions{}, "a-b b-c", ""},
		"tabs":             {"a\tb\nb\tc", ReadOptions{}, "a-b b-c", ""},
		"commas":           {"a,b\r\nb, c\r\n", ReadOptions{}, "a-b b-c", ""},
		"quotes":           {"\"a\";\"b\"\nb;c\n", ReadOptions{}, "a-b b-c", ""},
		"comments":         {"\uFEFF# nodes: 3\n% sym\n\na b\n#x y\nb c\n", ReadOptions{}, "a-b b-c", ""},
		"gzip":             {zipped(t, "a b\nb c\n"), ReadOptions{}, "a-b b-c", ""},
		"titles":           {"Source,Target\na,b\nb,c\n", ReadOptions{}, "a-b b-c", ""},
		"titles, weighted": {"u,v,w\na,b,1\nb,c,2\n", weighted, "a-b:1 b-c:2", ""},
		"no titles":        {"u v\na u\n", ReadOptions{}, "a-u u-v", ""},
		"both ways":        {"a b\nb a\nb c\nb c\n", ReadOptions{}, "a-b b-c", "2 edges occur more than once; each counts once"},
		"directed":         {"a b\nb a\nb c\nb c\n", directed, "a-b b-a b-c", "1 edges occur more than once; each counts once"},
		"weighted":         {"a b 0.5\nb c 2\nb a 5e-1\n", weighted, "a-b:0.5 b-c:2", "1 edges occur more than once; each counts once"},
		"unused weights":   {"a b 0.5\nb c 2\n", ReadOptions{}, "a-b b-c", "columns after the second are ignored; use --weighted if the third holds weights"},
		"loops":            {"a a\na b\nb b\n", ReadOptions{}, "a-a a-b b-b", "2 edges lead from a node to itself"},
		"both and back":    {"a b 1\nb a 2\n", ReadOptions{Weighted: true, Directed: true}, "a-b:1 b-a:2", ""},
		"past 2^32":        {"4294967296 4294967297\n99999999999999999 4294967297\n", ReadOptions{}, "4294967296-4294967297 4294967297-99999999999999999", ""},
		"mixed":            {"7 x\n007 7\n123456789012345678901 x\n", ReadOptions{}, "007-7 123456789012345678901-x 7-x", ""},
		"zstd":             {zstandard(t, "a b\nb c\n"), ReadOptions{}, "a-b b-c", ""},
	} {
		path := filepath.Join(t.TempDir(), "graph")
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		g, notes, err := Read(t.Context(), path, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := list(g); got != c.want {
			t.Errorf("%s: edges %s, want %s", name, got, c.want)
		}
		if got := strings.Join(notes, ","); got != c.notes {
			t.Errorf("%s: notes %q, want %q", name, got, c.notes)
		}
		if got, want := g.Edges(), len(strings.Fields(c.want)); got != want {
			t.Errorf("%s: %d edges, want %d", name, got, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	weighted := ReadOptions{Weighted: true}
	for name, c := range map[string]struct {
		content string
		o       ReadOptions
		want    string
	}{
		"empty":         {"", ReadOptions{}, "graph: the file has no edges"},
		"only comments": {"# nothing\n", ReadOptions{}, "the file has no edges"},
		"one column":    {"a b\n\nc\n", ReadOptions{}, "line 3, column 2: 1 columns"},
		"no node":       {"a,b\n,c\n", ReadOptions{}, "line 2, column 1: a node has no name"},
		"white space":   {"a,New York\n", ReadOptions{}, `line 1, column 3: the node "New York" has white space`},
		"UTF-8":         {"a \xff\n", ReadOptions{}, "is not UTF-8"},
		"no weight":     {"a b 1\nb c\n", weighted, "line 2, column 4: 2 columns"},
		"weight":        {"a b 1\nb c x\n", weighted, `line 2, column 5: "x" is not a weight`},
		"zero":          {"a b 1\nb c 0\n", weighted, "line 2, column 5: the weight 0 is not a positive float32 number"},
		"negative":      {"a b -1\n", weighted, "line 1, column 5: the weight -1"},
		"NaN":           {"a b nan\n", weighted, "line 1, column 5: the weight NaN"},
		"infinite":      {"a b inf\n", weighted, "line 1, column 5: the weight +Inf"},
		"two weights":   {"a b 1\nb c 1\nb a 2\n", weighted, "the edge of a and b has several weights, 1, 2: give one line with their sum, 3, or read the graph as directed"},
		"long line":     {"a b\n" + strings.Repeat("x", textfile.LongestLine+1), ReadOptions{}, "line 2: "},
		"tiny":          {"a b 1e-50\n", weighted, "line 1, column 5: the weight 1e-50"},
		"chunks":        {strings.Repeat("1 2\n", chunkBytes) + "3\n4\n", ReadOptions{}, fmt.Sprintf("line %d, column 2: 1 columns", chunkBytes+1)},
		"cut line":      {"1 2\n3 4\n5", ReadOptions{}, "line 3, column 2"},
		"cut":           {zipped(t, "a b\nb c\n")[:20], ReadOptions{}, "unexpected EOF"},
	} {
		path := filepath.Join(t.TempDir(), "graph")
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(t.Context(), path, c.o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want %q and the path", name, err, c.want)
		}
	}
	if _, _, err := Read(t.Context(), filepath.Join(t.TempDir(), "none"), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "cannot read the graph") {
		t.Errorf("no file: %v", err)
	}
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
