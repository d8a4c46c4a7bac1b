package walk

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A listedEdge is a line of a list.
type listedEdge struct {
	from, to string
	weight   float32
}

// plainGraph makes the graph of a list in the simplest way, and the notes of read.
func plainGraph(list []listedEdge, directed, weighted bool) (g *Graph, notes []string) {
	weights, repeated := map[[2]string]float32{}, 0
	rows, mass, names := map[string][]string{}, map[string]float64{}, map[string]bool{}
	add := func(from, to string, weight float32) {
		weights[[2]string{from, to}] = weight
		rows[from] = append(rows[from], to)
	}
	for _, e := range list {
		names[e.from], names[e.to] = true, true
		if _, ok := weights[[2]string{e.from, e.to}]; ok {
			repeated++
			continue
		}
		add(e.from, e.to, e.weight)
		if !directed && e.from != e.to {
			add(e.to, e.from, e.weight)
		}
	}
	g = &Graph{Directed: directed, starts: []int{0}}
	for name := range names {
		g.Names = append(g.Names, name)
	}
	slices.SortFunc(g.Names, compareNames)
	for _, from := range g.Names { // in the order in which the sums are made
		for _, to := range rows[from] {
			if directed {
				mass[to] += float64(weights[[2]string{from, to}])
			}
		}
		if !directed {
			slices.SortFunc(rows[from], compareNames)
			for _, to := range rows[from] {
				mass[from] += float64(weights[[2]string{from, to}])
			}
		}
	}
	slices.SortStableFunc(g.Names, func(a, b string) int { return cmp.Compare(mass[b], mass[a]) })
	numbers := map[string]uint32{}
	for i, name := range g.Names {
		numbers[name] = uint32(i)
		g.mass = append(g.mass, mass[name])
	}
	for _, from := range g.Names {
		row := rows[from]
		slices.SortFunc(row, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
		for _, to := range row {
			g.ends = append(g.ends, numbers[to])
			if weighted {
				g.weights = append(g.weights, weights[[2]string{from, to}])
			}
			if from == to {
				g.loops++
			}
		}
		g.starts = append(g.starts, len(g.ends))
	}
	if repeated > 0 {
		notes = append(notes, fmt.Sprintf("%d edges occur more than once; each counts once", repeated))
	}
	if g.loops > 0 {
		notes = append(notes, fmt.Sprintf("%d edges lead from a node to itself", g.loops))
	}
	return g, notes
}

// listOf returns a random list with edges of so many nodes, and its text. Some edges occur again, and some are loops. Nodes are dense numbers,
// numbers that are far apart, or numbers and words.
func listOf(random *rand.Rand, nodes, edges int, directed, weighted bool) (list []listedEdge, text string) {
	kind := random.IntN(3)
	name := func(i int) string {
		switch {
		case kind == 1:
			return strconv.Itoa(i * 9_999_999_999)
		case kind == 2 && i%3 > 0:
			return "node" + strconv.Itoa(i)
		}
		return strconv.Itoa(i)
	}
	var lines strings.Builder
	for len(list) < edges {
		i, j := random.IntN(nodes), random.IntN(nodes)
		if random.IntN(50) == 0 {
			j = i
		}
		e := listedEdge{name(i), name(j), 1}
		if random.IntN(10) == 0 && len(list) > 0 {
			e = list[random.IntN(len(list))]
			if random.IntN(2) == 0 && !directed {
				e.from, e.to = e.to, e.from
			}
		} else if weighted {
			e.weight = 0.1 + float32((i+j)%7) // the same in both directions
		}
		list = append(list, e)
		if lines.WriteString(e.from + " " + e.to); weighted {
			fmt.Fprintf(&lines, " %v", e.weight)
		}
		lines.WriteByte('\n')
	}
	return list, lines.String()
}

// TestBuildLikePlain compares graphs of lists with those of a plain twin, around the sizes of blocks of nodes and of chunks.
func TestBuildLikePlain(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	sizes := [][2]int{{1, 1}, {1, 3}, {2, 1}, {9, 40}, {300, 2000}, {1 << 10, 5000}, {1<<10 + 1, 5000}}
	if !testing.Short() {
		sizes = append(sizes, [][2]int{{1000, 30_000}, {12_000, 70_000}}...)
	}
	for _, size := range sizes {
		for option := range 4 {
			o := ReadOptions{Directed: option%2 == 1, Weighted: option/2 == 1}
			list, text := listOf(random, size[0], size[1], o.Directed, o.Weighted)
			want, notes := plainGraph(list, o.Directed, o.Weighted)
			for _, o.Threads = range []int{1, 3, 16} {
				g, gotNotes, err := read(t.Context(), source(text), o)
				if err != nil {
					t.Fatalf("seed %d, %v, %+v: %v", seed, size, o, err)
				}
				if err := compareGraphs(g, want); err != nil || !slices.Equal(gotNotes, notes) {
					t.Fatalf("seed %d, %v nodes and edges, %+v: %v; notes %q, want %q", seed, size, o, err, gotNotes, notes)
				}
			}
		}
	}
}

// compareGraphs returns an error that says what differs.
func compareGraphs(got, want *Graph) error {
	switch {
	case !slices.Equal(got.Names, want.Names):
		return fmt.Errorf("%d names, want %d, or others", len(got.Names), len(want.Names))
	case !slices.Equal(got.mass, want.mass):
		return fmt.Errorf("other masses")
	case !slices.Equal(got.starts, want.starts):
		return fmt.Errorf("other degrees")
	case !slices.Equal(got.ends, want.ends):
		return fmt.Errorf("other ends")
	case !slices.Equal(got.weights, want.weights) || (got.weights == nil) != (want.weights == nil):
		return fmt.Errorf("other weights")
	case got.loops != want.loops || got.Directed != want.Directed:
		return fmt.Errorf("%d loops, want %d", got.loops, want.loops)
	}
	return nil
}

// TestTwoWeights: an edge with two weights is found, also in chunks far apart.
func TestTwoWeights(t *testing.T) {
	lines := "5 7 2\n" + strings.Repeat("1 2 1\n", many) + "7 5 3\n"
	for _, threads := range []int{1, 16} {
		_, _, err := read(t.Context(), source(lines), ReadOptions{Weighted: true, Threads: threads})
		if err == nil || !strings.Contains(err.Error(), "has several weights, 2, 3: give one line with their sum, 5") {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}
