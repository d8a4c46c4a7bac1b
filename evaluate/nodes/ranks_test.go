package nodes

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
)

// randomTable returns vectors of nodes 0, 1, ..., some of them equal.
func randomTable(t *testing.T, nodes, dim int) *embedding.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var names []string
	var values []float32
	for i := range nodes {
		names = append(names, fmt.Sprint(i))
		for range dim {
			values = append(values, random.Float32()-0.5)
		}
		if i%3 == 2 {
			copy(values[i*dim:], values[(i-1)*dim:i*dim])
		}
	}
	table, err := embedding.NewTable(names, dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestScoreRanks compares ranks among all nodes with those of a sorted list.
func TestScoreRanks(t *testing.T) {
	const nodes = 60
	table, random := randomTable(t, nodes, 3), rand.New(rand.NewPCG(3, 4))
	var links []Link
	var known [][2]string
	linked := map[[2]int]bool{}
	link := func() (a, b int) {
		for a == b || linked[[2]int{a, b}] {
			a, b = random.IntN(nodes), random.IntN(nodes)
		}
		linked[[2]int{a, b}], linked[[2]int{b, a}] = true, true
		return a, b
	}
	for range 40 {
		a, b := link()
		links = append(links, Link{fmt.Sprint(a), fmt.Sprint(b), true}, Link{fmt.Sprint(b), fmt.Sprint(a), false})
		a, b = link()
		known = append(known, [2]string{fmt.Sprint(a), fmt.Sprint(b)})
	}
	links = append(links, Link{"0", "nobody", true})
	got, err := ScoreRanks(t.Context(), table, "set", links, func(yield func(a, b string) bool) {
		for _, k := range known {
			if !yield(k[0], k[1]) {
				return
			}
		}
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, l := range links {
		for range 2 {
			l.From, l.To = l.To, l.From
			from, ok1 := table.Index(l.From)
			to, ok2 := table.Index(l.To)
			if !l.Edge || !ok1 || !ok2 {
				continue
			}
			score := evaluate.Cosine(table.Vector(from), table.Vector(to))
			var others []float64
			for node := range nodes {
				if node != from && !linked[[2]int{from, node}] {
					others = append(others, evaluate.Cosine(table.Vector(from), table.Vector(node)))
				}
			}
			rank := 1.0
			for _, other := range others {
				if math.Abs(other-score) < 1e-6 {
					rank += 0.5
				} else if other > score {
					rank++
				}
			}
			want["all-mrr"] += 1 / rank / 80
			for _, k := range hits {
				if rank <= float64(k) {
					want[fmt.Sprint("all-hits@", k)] += 1.0 / 80
				}
			}
		}
	}
	var metrics []string
	for _, r := range got {
		metrics = append(metrics, r.Metric)
		if w, ok := want[r.Metric]; ok && math.Abs(float64(r.Score)-w) > 1e-6 || r.Found != 40 || r.Total != 41 {
			t.Errorf("%+v, want %v", r, w)
		}
		if r.Metric == "sampled-mrr" && r.Score > 0.2 { // a thousand nodes with repetition, of which sixty are different
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(metrics, []string{"all-mrr", "all-hits@1", "all-hits@10", "all-hits@50", "sampled-mrr", "sampled-hits@1", "sampled-hits@10", "sampled-hits@50"}) {
		t.Errorf("metrics %v", metrics)
	}
	if again, err := ScoreRanks(t.Context(), table, "set", links, nil, 1); err != nil || again[0].Score == got[0].Score {
		t.Errorf("known edges change nothing: %v, %v", again, err)
	}
	if _, err := ScoreRanks(t.Context(), table, "set", []Link{{"1", "2", false}, {"x", "1", true}}, nil, 1); err == nil {
		t.Error("no edge has vectors, but there is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ScoreRanks(ctx, table, "set", links, nil, 1); err == nil {
		t.Error("it goes on when cancelled")
	}
}

// TestScoreRanksFindsEdges: where nodes at the ends of an edge are alike, ranks are good.
func TestScoreRanksFindsEdges(t *testing.T) {
	table := clustered(t, 300, 100, 0.01)
	var links []Link
	for i := range 30 {
		links = append(links, Link{fmt.Sprint(i + 1), fmt.Sprint(i + 101), true})
	}
	results, err := ScoreRanks(t.Context(), table, "set", links, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Metric == "all-hits@10" && r.Score != 1 || r.Metric == "sampled-hits@10" && r.Score < 0.9 {
			t.Errorf("%+v", r)
		}
	}
}
