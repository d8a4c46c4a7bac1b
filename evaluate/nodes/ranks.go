package nodes

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

const (
	// sampledNodes are ranked with the right one where the nodes are sampled.
	sampledNodes = 1000

	// mostRanked is how many cosines ScoreRanks computes at most. With more nodes and edges it ranks some of the edges.
	mostRanked = 1 << 31
)

// hits are the K of Hits@K.
var hits = []int{1, 10, 50}

// ScoreRanks ranks, from each of the two nodes of each edge among the links, the other node among the nodes, by the cosine.
// So an edge gives two ranks. Candidates are all nodes ("all-") or 1,000 random ones ("sampled-"), but not the node itself,
// nor its other neighbours in the links and in known, the edges that were trained on: their vectors should be alike as well.
// "mrr" is the mean of the inverse ranks, and "hits@K" the fraction of ranks up to K. Nodes that are equally near count half.
//
// Of a large graph it ranks a random part of the edges. Errors: no edge with vectors, too little memory, a cancelled context.
func ScoreRanks(ctx context.Context, t *embedding.Table, set string, links []Link, known iter.Seq2[string, string], seed uint64) ([]evaluate.Result, error) {
	r := &ranker{dim: t.Dim, nodes: t.Len(), seed: seed}
	edges := r.queries(t, links)
	if len(r.from) == 0 {
		return nil, fmt.Errorf("links: none of %d pairs has an edge and vectors", len(links))
	}
	r.exclude(t, links, known)
	done, err := memory.Room(4 * int64(len(t.Vectors)))
	if err != nil {
		return nil, fmt.Errorf("links: %w", err)
	}
	defer done()
	r.unit = t.Normalized()
	all, sampled := make([]float64, len(r.from)), make([]float64, len(r.from))
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(r.from), func(q int) { all[q], sampled[q] = r.ranks(q) })
	if err != nil {
		return nil, err
	}
	var results []evaluate.Result
	for _, c := range []struct {
		prefix string
		ranks  []float64
	}{{evaluate.AllPrefix, all}, {evaluate.SampledPrefix, sampled}} {
		add := func(metric string, score func(rank float64) float64) {
			sum := 0.0
			for _, rank := range c.ranks {
				sum += score(rank)
			}
			results = append(results, evaluate.Result{
				Task: evaluate.TaskLinks, Dataset: set, Metric: c.prefix + metric,
				Score: evaluate.Score(sum / float64(len(c.ranks))), Found: len(c.ranks) / 2, Total: edges,
			})
		}
		add(evaluate.MetricMRR, func(rank float64) float64 { return 1 / rank })
		for _, k := range hits {
			add(fmt.Sprintf("%s%d", evaluate.HitsPrefix, k), func(rank float64) float64 {
				if rank <= float64(k) {
					return 1
				}
				return 0
			})
		}
	}
	return results, nil
}

// A ranker ranks the nodes to[q] as seen from the nodes from[q]. Nodes are rows of the table.
type ranker struct {
	dim, nodes int
	unit       []float32 // (nodes, dim): vectors of length 1
	seed       uint64
	from, to   []int
	known      map[int][]int // by from: nodes that are no candidates, in rising order
}

// queries takes the edges among the links, from both ends, and returns how many there are.
func (r *ranker) queries(t *embedding.Table, links []Link) (edges int) {
	for _, i := range rand.New(rand.NewPCG(r.seed, 1)).Perm(len(links)) {
		l := links[i]
		if !l.Edge {
			continue
		}
		edges++
		from, known1 := t.Index(l.From)
		to, known2 := t.Index(l.To)
		room := len(r.from) == 0 || (len(r.from)+2)*r.nodes <= mostRanked
		if known1 && known2 && from != to && room {
			r.from, r.to = append(r.from, from, to), append(r.to, to, from)
		}
	}
	return edges
}

// exclude finds what are no candidates.
func (r *ranker) exclude(t *embedding.Table, links []Link, known iter.Seq2[string, string]) {
	r.known = map[int][]int{}
	for _, from := range r.from {
		r.known[from] = []int{from}
	}
	add := func(a, b string) {
		from, ok1 := t.Index(a)
		to, ok2 := t.Index(b)
		if !ok1 || !ok2 {
			return
		}
		for _, ends := range [2][2]int{{from, to}, {to, from}} {
			if others, asked := r.known[ends[0]]; asked {
				r.known[ends[0]] = append(others, ends[1])
			}
		}
	}
	for _, l := range links {
		if l.Edge {
			add(l.From, l.To)
		}
	}
	if known != nil {
		known(func(from, to string) bool {
			add(from, to)
			return true
		})
	}
	for from, others := range r.known {
		slices.Sort(others)
		r.known[from] = slices.Compact(others)
	}
}

// row returns the vector of a node.
func (r *ranker) row(node int) []float32 { return r.unit[node*r.dim:][:r.dim] }

// ranks returns the rank of to[q] among all candidates and among random ones.
func (r *ranker) ranks(q int) (all, sampled float64) {
	from, known := r.row(r.from[q]), r.known[r.from[q]]
	score := simd.Dot(from, r.row(r.to[q]))
	ahead := func(node int) float64 { // of the right one
		switch other := simd.Dot(from, r.row(node)); {
		case other > score:
			return 1
		case other == score:
			return 0.5
		default:
			return 0
		}
	}
	all = 1
	for node := range r.nodes {
		all += ahead(node)
	}
	for _, node := range known { // the right one is among them
		all -= ahead(node)
	}
	sampled = 1
	random, found := rand.New(rand.NewPCG(r.seed, uint64(2+q))), 0
	for tries := 0; found < sampledNodes && tries < 4*sampledNodes; tries++ {
		node := random.IntN(r.nodes)
		if _, ok := slices.BinarySearch(known, node); !ok {
			sampled += ahead(node)
			found++
		}
	}
	return all, sampled
}
