package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestWeightedScores compares weights with items that really stand there
// several times.
func TestWeightedScores(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 17, 200} {
		for range 20 {
			items := Items{Task: TaskSimilarity}
			var human, model []float64
			weights := make([]int, n)
			for i := range n {
				x, y := float64(random.IntN(1+n/2)), float64(random.IntN(1+n/2)) // with ties
				items.Human, items.Values = append(items.Human, x), append(items.Values, y)
				weights[i] = random.IntN(4)
				for range weights[i] {
					human, model = append(human, x), append(model, y)
				}
			}
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			got, want := newScorer(items, all).score(weights), Spearman(human, model)
			if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
				t.Fatalf("%d items: %v with weights, %v with copies", n, got, want)
			}
			share := shareScorer(items.Values).score(weights)
			if len(model) > 0 && math.Abs(share-stat.Mean(model, nil)) > 1e-12 {
				t.Fatalf("%d items: share %v with weights, %v with copies", n, share, stat.Mean(model, nil))
			}
		}
	}
}
