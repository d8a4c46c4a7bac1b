package walk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// typed reads a graph and the types of its nodes.
func typed(t *testing.T, edges, types string, o ReadOptions) (*Graph, []string, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "edges")
	o.Types = filepath.Join(dir, "types")
	for name, content := range map[string]string{path: edges, o.Types: types} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g, notes, err := Read(t.Context(), path, o)
	return g, notes, err
}

// randomTyped returns a random graph of authors, papers, venues and a few nodes without a type, and the types by name.
func randomTyped(t *testing.T, r *rand.Rand, o ReadOptions) (*Graph, map[string]string) {
	t.Helper()
	kinds, types := []string{"author", "paper", "venue", ""}, map[string]string{}
	var edges, list strings.Builder
	const nodes = 120
	for i := range nodes {
		name := fmt.Sprintf("n%d", i)
		if types[name] = kinds[min(r.IntN(7)/2, 3)]; types[name] != "" {
			fmt.Fprintln(&list, name, types[name])
		}
	}
	there := map[[2]int]bool{}
	for range 700 {
		from, to := r.IntN(nodes), r.IntN(nodes)
		if there[[2]int{from, to}] || there[[2]int{to, from}] {
			continue
		}
		there[[2]int{from, to}] = true
		fmt.Fprintf(&edges, "n%d n%d %d\n", from, to, 1+r.IntN(9))
	}
	g, _, err := typed(t, edges.String(), list.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	return g, types
}

// TestMetaPath: walks keep to the types of their path and to the graph, end only where there is no way on, are the same however they
// are walked, and their counts are how often they come to a node.
func TestMetaPath(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for try := range 24 {
		g, types := randomTyped(t, r, ReadOptions{Directed: try%2 == 1, Weighted: try/2%2 == 1, Threads: 2, Folder: t.TempDir(), always: try%5 == 0})
		path := [][]string{{"author", "paper", "venue", "paper", "author"}, {"paper", "venue"}, {"author", "author"}, {"venue"}}[try%4]
		o := Options{Walks: 7, Length: 12, MetaPath: path, Seed: uint64(try), Threads: 1 + try%3}
		w, err := g.walks(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		cycle := path
		if len(path) > 1 && path[0] == path[len(path)-1] {
			cycle = path[:len(path)-1]
		}
		ways := func(node uint32, n int) (some []uint32) { // by the definition
			for _, to := range g.neighbours(node) {
				if types[g.Names[to]] == cycle[n%len(cycle)] {
					some = append(some, to)
				}
			}
			return some
		}
		began, counts := map[uint32]int{}, make([]uint64, len(g.Names))
		l := w.lockstep()
		for first := 0; first < w.count(); first += together {
			end := min(first+together, w.count())
			l.walk(first, end)
			for b := range end - first {
				walk := l.path(b)
				if want := w.plainWalk(nil, uint32((first+b)/w.starters), walk[0]); !slices.Equal(walk, want) {
					t.Fatalf("try %d: walk %v, want %v", try, walk, want)
				}
				began[walk[0]]++
				for n, node := range walk {
					if counts[node]++; types[g.Names[node]] != cycle[n%len(cycle)] || n > 0 && !slices.Contains(g.neighbours(walk[n-1]), node) {
						t.Fatalf("try %d: node %d of a walk is %s, a %s", try, n, g.Names[node], types[g.Names[node]])
					}
				}
				if n := len(walk); n < o.Length && len(ways(walk[n-1], n)) > 0 {
					t.Fatalf("try %d: a walk ends at node %d, though a way leads on", try, n)
				}
			}
		}
		for i := range g.Names {
			if begins := types[g.Names[i]] == cycle[0] && len(ways(uint32(i), 1)) > 0; began[uint32(i)] != 7 && begins || began[uint32(i)] > 0 && !begins {
				t.Fatalf("try %d: %d walks begin at %s, a %s", try, began[uint32(i)], g.Names[i], types[g.Names[i]])
			}
		}
		if rest, _, err := g.HoldOut(t.Context(), 0.2, 1); err != nil {
			t.Fatal(err)
		} else {
			for i, name := range rest.Names {
				if kind := rest.types.kinds[i]; kind == 0 && types[name] != "" || kind > 0 && g.types.names[kind-1] != types[name] {
					t.Fatalf("try %d: with edges held out %s has another type than %q", try, name, types[name])
				}
			}
		}
		c, err := g.Corpus(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Vocabulary.Counts, counts) || c.Text().Source() != nil {
			t.Fatalf("try %d: other counts", try)
		}
	}
}

// TestMetaPathSteps: a step goes to the nodes of the next type in proportion to the weights of the edges.
func TestMetaPathSteps(t *testing.T) {
	g, _, err := typed(t, "a p 1\na q 2\na r 5\na x 9\na y 3\nb a 4\n", "a A\nb A\np P\nq P\nr P\nx X\n", ReadOptions{Weighted: true})
	if err != nil {
		t.Fatal(err)
	}
	const walks = 80_000
	var text strings.Builder
	if err := g.WriteWalks(t.Context(), &text, Options{Walks: walks, Length: 2, MetaPath: []string{"A", "P"}, Seed: 4}); err != nil {
		t.Fatal(err)
	}
	got, chi := map[string]float64{}, 0.0
	for line := range strings.Lines(text.String()) {
		got[strings.TrimSpace(line)]++
	}
	for end, weight := range map[string]float64{"p": 1, "q": 2, "r": 5} {
		want := walks * weight / 8
		difference := got["a "+end] - want
		chi += difference * difference / want
	}
	if chi > 20 || len(got) != 3 { // two degrees of freedom: 1 of 20,000 exceeds it
		t.Errorf("chi-square %.1f, walks %v", chi, got)
	}
}

// TestTypesCancelled: reading the types ends with its context.
func TestTypesCancelled(t *testing.T) {
	g, _, err := typed(t, "a p\n", "a A\np P\n", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "types")
	if err := os.WriteFile(path, []byte("a A\np P\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.readTypes(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestMetaPathErrors(t *testing.T) {
	const edges, types = "a p\np v\n", "a A\np P\nv V\n"
	for name, c := range map[string]struct {
		types string
		o     Options
		want  string
	}{
		"columns":    {"a A\np\n", Options{}, "types: line 2, column 2: 1 columns; a line has a node and its type"},
		"more":       {"a A\np P 3\n", Options{}, "types: line 2, column 6: 3 columns"},
		"two types":  {"a A\np P\na B\n", Options{}, "types: line 3: node a has the type B here, and A before"},
		"no type":    {types, Options{MetaPath: []string{"A", "Q"}}, `no node has the type "Q" of the meta-path; there are A, P, V`},
		"no way":     {types, Options{MetaPath: []string{"A", "V"}}, "no edge leads along the meta-path A,V from its first node"},
		"p":          {types, Options{MetaPath: []string{"A", "P"}, P: 2}, "no p and q"},
		"endless":    {"a A\n" + strings.Repeat("x", 2<<20), Options{}, "types: line 2: it has more than"},
		"many types": {manyTypes(), Options{}, "more than 255 types"},
	} {
		list := edges
		if name == "many types" {
			list = strings.ReplaceAll(c.types, " ", " t")
		}
		g, _, err := typed(t, list, c.types, ReadOptions{})
		if err == nil {
			_, err = g.Corpus(t.Context(), c.o)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	g, notes, err := typed(t, edges, types+"z V\n", ReadOptions{})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "left out 1 line of") {
		t.Errorf("%v, %v", notes, err)
	}
	g.types = nil
	if _, err := g.Corpus(t.Context(), Options{MetaPath: []string{"A"}}); err == nil || !strings.Contains(err.Error(), "needs the types of the nodes") {
		t.Error(err)
	}
	if _, _, err := Read(t.Context(), "testdata/scipy.npz", ReadOptions{Types: "nosuch"}); err == nil || !strings.Contains(err.Error(), "cannot read the types of nodes") {
		t.Error(err)
	}
}

// manyTypes gives 256 nodes a type of their own.
func manyTypes() string {
	var list strings.Builder
	for i := range 256 {
		fmt.Fprintf(&list, "n%d k%d\n", i, i)
	}
	return list.String()
}
