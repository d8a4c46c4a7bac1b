package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// source returns content as a source of text.
func source(content string) textfile.Source {
	return textfile.Source{Name: "graph", Size: -1, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// randomGraph returns a graph of n nodes. Two of them have an edge with probability
// density. Its weights differ by a factor of up to a hundred.
func randomGraph(t testing.TB, n int, density float64, directed, weighted bool, seed uint64) *Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 5))
	var c edgeChunk
	for i := range n {
		for j := range n {
			if (directed || i <= j) && random.Float64() < density {
				c.from, c.to = append(c.from, uint64(i)), append(c.to, uint64(j))
				if w := float32(math.Pow(100, random.Float64())); weighted {
					c.weights = append(c.weights, w)
				}
			}
		}
	}
	g, _, err := newGraph(t.Context(), &edges{words: &wordTable{}, names: numberNames(n), chunks: []edgeChunk{c}}, ReadOptions{Directed: directed, Weighted: weighted})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// arcsOf returns the edges of a graph, an undirected one once.
func arcsOf(g *Graph) (arcs [][2]uint32) {
	c := g.edges()
	for i, from := range c.from {
		arcs = append(arcs, [2]uint32{uint32(from), uint32(c.to[i])})
	}
	return arcs
}

// reference returns the probabilities of the step from v, for a walk that came from
// t, by the definition alone.
func reference(g *Graph, t, v uint32, p, q float64) map[uint32]float64 {
	weight := map[[2]uint32]float64{}
	for i := range g.Names {
		for k, to := range g.neighbours(uint32(i)) {
			weight[[2]uint32{uint32(i), to}] = 1
			if g.weights != nil {
				weight[[2]uint32{uint32(i), to}] = float64(g.edgeWeights(uint32(i))[k])
			}
		}
	}
	probabilities, sum := map[uint32]float64{}, 0.0
	for x := range uint32(len(g.Names)) {
		w, ok := weight[[2]uint32{v, x}]
		if !ok {
			continue
		}
		if _, near := weight[[2]uint32{t, x}]; x == t {
			w /= p
		} else if !near {
			w /= q
		}
		probabilities[x] = w
		sum += w
	}
	for x := range probabilities {
		probabilities[x] /= sum
	}
	return probabilities
}

// TestSteps draws steps by rejection and from a table of all neighbours. It compares
// both with the probabilities of the definition.
func TestSteps(t *testing.T) {
	draw := 2000.0
	if testing.Short() {
		draw = 500
	}
	for _, directed := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for _, pq := range [][2]float64{{1, 1}, {0.25, 0.25}, {4, 1}, {0.01, 1}, {0.02, 0.5}, {100, 0.1}, {0.5, 50}, {200, 100}, {1e-5, 1e5}} {
				if pq[1] == 1e5 && !(directed && weighted) {
					continue // without a way back, some α are all tiny; with one, all walks take it
				}
				g := randomGraph(t, 14, 0.3, directed, weighted, 9)
				s, err := newStepper(t.Context(), g, pq[0], pq[1], 2)
				if err != nil {
					t.Fatal(err)
				}
				for way, next := range map[string]func(previous, here uint32, random *numbers) uint32{
					"first order": func(_, here uint32, random *numbers) uint32 {
						return s.draw(g.starts[here], g.starts[here+1], random.next())
					},
					"rejection": s.step, "table": s.drawFromTable} {
					if way == "first order" && !s.firstOrder {
						continue
					}
					random := newNumbers(1, 0, 0)
					var chi, freedom float64
					for _, a := range arcsOf(g) {
						if len(g.neighbours(a[1])) == 0 {
							continue
						}
						want := reference(g, a[0], a[1], pq[0], pq[1])
						got := map[uint32]int{}
						for range int(draw) {
							got[next(a[0], a[1], &random)]++
						}
						rest, restWant := 0.0, 0.0 // of the neighbours that have too few draws each
						bin := func(got, expected float64) {
							if expected >= 5 {
								chi += (got - expected) * (got - expected) / expected
								freedom++
							}
						}
						for x, p := range want {
							if n := float64(got[x]); p*draw >= 5 {
								bin(n, p*draw)
							} else {
								rest, restWant = rest+n, restWant+p*draw
							}
						}
						bin(rest, restWant)
						freedom--
						for x := range got {
							if want[x] == 0 {
								t.Fatalf("a step led from %d to %d without an edge", a[1], x)
							}
						}
					}
					// A correct sampler exceeds this limit once in a million runs or less.
					if limit := freedom + 5*math.Sqrt(2*freedom) + 10; freedom < 20 || chi > limit {
						t.Errorf("directed %t, weighted %t, p and q %v, %s: chi-square %.0f of %.0f degrees of freedom, limit %.0f", directed, weighted, pq, way, chi, freedom, limit)
					}
				}
			}
		}
	}
}

func text(t testing.TB, g *Graph, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.WriteWalks(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWriteWalks checks that walks follow edges, that one begins at each node in each
// round, and that any number of threads writes the same text.
func TestWriteWalks(t *testing.T) {
	for _, n := range []int{1, 2, together - 1, together, together + 1, 7*together + 17} {
		g := randomGraph(t, n, min(1, 6/float64(n)), n%2 == 0, n > 64, uint64(n))
		index := map[string]uint32{}
		for i, name := range g.Names {
			index[name] = uint32(i)
		}
		o := Options{Walks: 3, Length: 11, P: 0.5, Q: 2, Seed: 7, Threads: 1}
		written := 0
		o.Progress = func(done, total int) { written = done*1000000 + total }
		whole := text(t, g, o)
		if written != 3*n*1000000+3*n {
			t.Errorf("%d nodes: last progress %d", n, written)
		}
		for _, o.Threads = range []int{2, 5} {
			if text(t, g, o) != whole {
				t.Errorf("%d nodes: %d threads write another text", n, o.Threads)
			}
		}
		lines := strings.Split(strings.TrimSuffix(whole, "\n"), "\n")
		if len(lines) != 3*n {
			t.Fatalf("%d nodes: %d walks", n, len(lines))
		}
		began := map[string]int{}
		for i, line := range lines {
			if i%n == 0 {
				clear(began)
			}
			nodes := strings.Split(line, " ")
			if began[nodes[0]]++; began[nodes[0]] > 1 {
				t.Errorf("%d nodes: two walks from %s in a round", n, nodes[0])
			}
			for k := range nodes[1:] {
				if _, ok := g.edge(index[nodes[k]], index[nodes[k+1]]); !ok {
					t.Errorf("no edge from %s to %s", nodes[k], nodes[k+1])
				}
			}
			if last := index[nodes[len(nodes)-1]]; len(nodes) > 11 || len(nodes) < 11 && len(g.neighbours(last)) > 0 {
				t.Errorf("a walk of %d nodes that could go on", len(nodes))
			}
		}
	}
}

// TestLockstep compares walks that are walked together with the definition of one.
func TestLockstep(t *testing.T) {
	for _, directed := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for _, pq := range [][2]float64{{1, 1}, {0.25, 4}} {
				g := randomGraph(t, 3*together+5, 0.01, directed, weighted, 4)
				o := Options{Walks: 2, Length: 3*drawnAhead + 3, P: pq[0], Q: pq[1], Seed: 3}
				w, err := g.walks(t.Context(), &o)
				if err != nil {
					t.Fatal(err)
				}
				l := w.lockstep()
				for first := 0; first < w.count(); first += 37 {
					end := min(first+37, w.count())
					l.walk(first, end)
					for b := range end - first {
						round := uint32((first + b) / w.starters)
						order := w.order(round)
						want := w.plainWalk(nil, round, order.at(uint32((first+b)%w.starters)))
						if !slices.Equal(l.path(b), want) {
							t.Fatalf("directed %t, weighted %t, %v: walk %d is %v, want %v", directed, weighted, pq, first+b, l.path(b), want)
						}
					}
				}
			}
		}
	}
}

// TestStartOrder checks that a walk begins at each node in each round, in an order of the round's own.
func TestStartOrder(t *testing.T) {
	for n := 1; n < 300; n++ {
		w := &walks{stepper: &stepper{g: &Graph{}}, starters: n, seed: 1}
		var orders [2][]uint32
		for round := range orders {
			order := w.order(uint32(round))
			for i := range n {
				orders[round] = append(orders[round], order.at(uint32(i)))
			}
			if sorted := slices.Sorted(slices.Values(orders[round])); len(slices.Compact(sorted)) != n || int(sorted[n-1]) != n-1 {
				t.Fatalf("%d nodes: order %v", n, orders[round])
			}
		}
		if n > 16 && (slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0])) {
			t.Errorf("%d nodes: orders %v", n, orders)
		}
	}
}

// TestGolden checks that released versions' walks stay repeatable.
func TestGolden(t *testing.T) {
	g, _, err := read(t.Context(), source("a b\nb c\nc d\nd a\na c\nd e\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "a b a b c b a b\nc d c d a d a c\nd a d c a c d c\ne d a c b c a c\nb c b c b c a d\n"
	if got := text(t, g, Options{Walks: 1, Length: 8, P: 0.5, Q: 2, Seed: 1}); got != want {
		t.Errorf("got\n%s", got)
	}
	if text(t, g, Options{Seed: 1}) == text(t, g, Options{Seed: 2}) {
		t.Error("two seeds give one text")
	}
}

// TestDefaults checks the defaults: 10 walks of 80 nodes.
func TestDefaults(t *testing.T) {
	g := randomGraph(t, 5, 1, false, false, 1)
	if words := len(strings.Fields(text(t, g, Options{}))); words != 5*10*80 {
		t.Errorf("%d nodes in the text", words)
	}
}

// failing is a writer on a full disk.
type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestWriteWalksErrors(t *testing.T) {
	g := randomGraph(t, 5, 1, false, false, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		g    *Graph
		o    Options
		want string
	}{
		"walks":     {t.Context(), g, Options{Walks: -1}, "walks -1"},
		"length":    {t.Context(), g, Options{Length: -1}, "length -1"},
		"threads":   {t.Context(), g, Options{Threads: -1}, "threads -1"},
		"p":         {t.Context(), g, Options{P: -1}, "p -1: must be"},
		"q":         {t.Context(), g, Options{Q: math.NaN()}, "q NaN: must be"},
		"no nodes":  {t.Context(), &Graph{}, Options{}, "no nodes"},
		"disk":      {t.Context(), g, Options{}, "full"},
		"cancelled": {ctx, g, Options{}, "canceled"},
	} {
		if err := c.g.WriteWalks(c.ctx, failing{}, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestHoldOut(t *testing.T) {
	for _, directed := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			g := randomGraph(t, 60, 0.12, directed, weighted, 3)
			rest, pairs, err := g.HoldOut(t.Context(), 0.4, 5)
			if err != nil {
				t.Fatal(err)
			}
			want := int(math.Round(0.4 * float64(g.Edges())))
			seen, number := map[Pair]bool{}, map[string]uint32{}
			for i, name := range rest.Names {
				number[name] = uint32(i)
			}
			for i, p := range pairs {
				_, whole := g.edge(p.From, p.To)
				_, left := rest.edge(number[g.Names[p.From]], number[g.Names[p.To]])
				if whole != p.Edge || p.Edge != (i < want) || left || seen[p] || p.From == p.To {
					t.Errorf("pair %d: %v, in the graph %t, in the rest %t", i, p, whole, left)
				}
				seen[p] = true
			}
			if len(pairs) != 2*want || rest.Edges() != g.Edges()-want || rest.Loops() != g.Loops() {
				t.Errorf("%d pairs of %d edges, %d left", len(pairs), g.Edges(), rest.Edges())
			}
			all := strings.Fields(list(g))
			for _, edge := range strings.Fields(list(rest)) {
				from, to, _ := strings.Cut(edge, "-")
				to, weight, _ := strings.Cut(to, ":")
				if !slices.Contains(all, edge) && !slices.Contains(all, to+"-"+from+":"+weight) && !slices.Contains(all, to+"-"+from) {
					t.Errorf("%v is not an edge of the whole graph", edge)
				}
			}
			if whole, left := count(g), count(rest); whole != left {
				t.Errorf("%d components became %d", whole, left)
			}
			again, _, err := g.HoldOut(t.Context(), 0.4, 5)
			if err != nil || list(again) != list(rest) {
				t.Errorf("another result the second time (%v)", err)
			}
			if other, _, err := g.HoldOut(t.Context(), 0.4, 6); err != nil || list(other) == list(rest) {
				t.Errorf("the same result with another seed (%v)", err)
			}
		}
	}
}

// count returns the number of connected components.
func count(g *Graph) int {
	n, p := len(g.Names), components(memory.Sequence[uint32](len(g.Names)))
	for _, a := range arcsOf(g) {
		if p.join(a[0], a[1]) {
			n--
		}
	}
	return n
}

// TestWriteEdges reads what was written.
func TestWriteEdges(t *testing.T) {
	for _, o := range []ReadOptions{{}, {Directed: true}, {Weighted: true}, {Directed: true, Weighted: true}} {
		g := randomGraph(t, 40, 0.2, o.Directed, o.Weighted, 8)
		checkWritten(t, g)
	}
	if err := randomGraph(t, 5, 1, false, false, 1).WriteEdges(failing{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

func TestHoldOutErrors(t *testing.T) {
	ring, _, err := read(t.Context(), source("a b\nb c\nc d\nd a\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		g     *Graph
		share float64
		want  string
	}{
		"none":        {ring, 0, "not between 0 and 1"},
		"all":         {ring, 1, "not between 0 and 1"},
		"NaN":         {ring, math.NaN(), "not between 0 and 1"},
		"too few":     {ring, 0.01, "0 of 4 edges are to be held out"},
		"trees":       {ring, 0.5, "2 of 4 edges are to be held out, but only 1 can be"},
		"too dense":   {randomGraph(t, 30, 1, false, false, 1), 0.5, "without an edge are to be drawn, but there are only 0"},
		"just enough": {ring, 0.25, ""}, // ac and bd are free
	} {
		_, _, err := c.g.HoldOut(t.Context(), c.share, 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestWritePairs(t *testing.T) {
	var b bytes.Buffer
	g := &Graph{Names: []string{"a", "b", "c"}}
	if err := g.WritePairs(&b, []Pair{{0, 2, true}, {1, 0, false}}); err != nil || b.String() != "# node node edge\na c 1\nb a 0\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := g.WritePairs(failing{}, []Pair{{0, 2, true}}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkWalks walks over a graph that is larger than the caches. Its steps a second are of one core.
func BenchmarkWalks(b *testing.B) {
	const nodes, edgeCount = 1 << 20, 5 << 20
	random := rand.New(rand.NewPCG(1, 1))
	c := edgeChunk{from: make([]uint64, edgeCount), to: make([]uint64, edgeCount), weights: make([]float32, edgeCount)}
	for i := range c.from {
		c.from[i], c.to[i] = uint64(random.IntN(nodes)), uint64(random.IntN(nodes))
		c.weights[i] = 1 + float32((c.from[i]^c.to[i])%64)
	}
	for _, weighted := range []bool{false, true} {
		chunk := edgeChunk{from: slices.Clone(c.from), to: slices.Clone(c.to), weights: slices.Clone(c.weights)} // newGraph loses it
		if !weighted {
			chunk.weights = nil
		}
		g, _, err := newGraph(b.Context(), &edges{words: &wordTable{}, names: numberNames(nodes), chunks: []edgeChunk{chunk}}, ReadOptions{Weighted: weighted, Directed: true})
		if err != nil {
			b.Fatal(err)
		}
		for _, pq := range [][2]float64{{1, 1}, {0.25, 0.25}} {
			w, err := g.walks(b.Context(), &Options{P: pq[0], Q: pq[1]})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("weighted=%t/p=%g", weighted, pq[0]), func(b *testing.B) {
				l, steps, first := w.lockstep(), 0, 0
				for b.Loop() {
					l.walk(first, first+together)
					for k := range together {
						steps += len(l.path(k))
					}
					first = (first + together) % (w.count() - together)
				}
				b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}

// numberNames returns the names 0 ... count-1.
func numberNames(count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
