package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestItemsAgreeWithRun: the score computed from single items is that of Run.
func TestItemsAgreeWithRun(t *testing.T) {
	table := randomTable(t, 60, 8)
	random := rand.New(rand.NewPCG(5, 0))
	var pairs, questions string
	questions = ": one\n"
	for i := range 80 {
		a, b := table.Words[random.IntN(60)], table.Words[random.IntN(60)]
		if i%9 == 0 {
			a = "unknown"
		}
		pairs += a + " " + b + " " + string(rune('0'+random.IntN(10))) + "\n"
		if i == 40 {
			questions += ": two\n"
		}
		// An answer that is often right: the first word once more.
		questions += a + " " + a + " " + b + " " + table.Words[random.IntN(4)] + "\n"
	}
	dir := folder(t, map[string]string{"pairs.txt": pairs, "questions.txt": questions})
	for _, m := range []Method{CosAdd, CosMul} {
		o := Options{Methods: []Method{m}}
		results, _, err := Run(t.Context(), table, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		items, _, err := RunItems(t.Context(), table, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(items) != 2 {
			t.Fatalf("%d sets, want 2", len(items))
		}
		for _, i := range items {
			want := find(t, results, i.Dataset, i.Metric)
			b, err := NewBootstrap([][]Items{{i}}, 10, 1)
			if err != nil {
				t.Fatal(err)
			}
			near(t, i.Dataset+" "+i.Metric, float64(b.Score(0).Value), float64(want.Score), 1e-12)
			if i.Found() != want.Found || b.Items != want.Found || len(i.Values) != want.Total {
				t.Errorf("%s: %d of %d items, want %d of %d", i.Dataset, i.Found(), len(i.Values), want.Found, want.Total)
			}
		}
	}
	if _, _, err := RunItems(t.Context(), table, dir, Options{Methods: []Method{LRCos}}); err == nil {
		t.Error("LRCos has no single questions, but no error came")
	}
}

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
			common := make([]int, n)
			for i := range common {
				common[i] = i
			}
			got, want := newScorer(items, common).score(weights), Spearman(human, model)
			if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
				t.Fatalf("%d items: %v with weights, %v with copies", n, got, want)
			}
			share := shareScorer(items.Values).score(weights)
			if len(model) > 0 && math.Abs(share-mean(model)) > 1e-12 {
				t.Fatalf("%d items: share %v with weights, %v with copies", n, share, mean(model))
			}
		}
	}
}

// questions makes outcomes of which about the given share is right.
func outcomes(random *rand.Rand, n int, right float64) Items {
	items := Items{Task: TaskAnalogy, Dataset: "set", Metric: string(CosAdd)}
	for range n {
		value := 0.0
		if random.Float64() < right {
			value = 1
		}
		items.Values = append(items.Values, value)
	}
	return items
}

// TestBootstrap compares interval and p with what the normal approximation of
// independent questions says.
func TestBootstrap(t *testing.T) {
	const n = 1000
	random := rand.New(rand.NewPCG(3, 4))
	a, b := outcomes(random, n, 0.5), outcomes(random, n, 0.6)
	boot, err := NewBootstrap([][]Items{{a}, {b}, {a, b}}, 4000, 1)
	if err != nil {
		t.Fatal(err)
	}
	shareA := mean(a.Values)
	deviation := math.Sqrt(shareA * (1 - shareA) / n)
	score := boot.Score(0)
	near(t, "score", float64(score.Value), shareA, 1e-12)
	near(t, "low", float64(score.Low), shareA-1.96*deviation, 0.2*deviation)
	near(t, "high", float64(score.High), shareA+1.96*deviation, 0.2*deviation)
	near(t, "mean of a group", float64(boot.Score(2).Value), (shareA+mean(b.Values))/2, 1e-12)

	difference, p := boot.Difference(1, 0)
	near(t, "difference", float64(difference.Value), mean(b.Values)-shareA, 1e-12)
	if p > 0.001 || !difference.Excludes(0) {
		t.Errorf("a tenth more right answers of a thousand: p %v, interval %+v", p, difference)
	}
	opposite, q := boot.Difference(0, 1)
	near(t, "low the other way round", float64(opposite.Low), -float64(difference.High), 1e-12)
	near(t, "high the other way round", float64(opposite.High), -float64(difference.Low), 1e-12)
	near(t, "p the other way round", q, p, 0)
	if same, p := boot.Difference(0, 0); same.Value != 0 || same.Excludes(0) || p != 1 {
		t.Errorf("a group and itself: %+v, p %v", same, p)
	}
	again, err := NewBootstrap([][]Items{{a}, {b}, {a, b}}, 4000, 1)
	if err != nil || again.Score(0) != score {
		t.Errorf("the same seed gave %+v (%v), then %+v", score, err, again.Score(0))
	}
}

// TestBootstrapFalseAlarms: of groups that do not differ, about one in twenty
// seems to, at p < 0.05.
func TestBootstrapFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	alarms := 0
	const trials = 200
	for range trials {
		boot, err := NewBootstrap([][]Items{{outcomes(random, 150, 0.5)}, {outcomes(random, 150, 0.5)}}, 200, 7)
		if err != nil {
			t.Fatal(err)
		}
		if _, p := boot.Difference(0, 1); p < 0.05 {
			alarms++
		}
	}
	if alarms < trials/100 || alarms > trials/8 {
		t.Errorf("%d of %d equal groups seem to differ, want about %d", alarms, trials, trials/20)
	}
}

func TestBootstrapLeavesOutUnknownItems(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	a, b := outcomes(random, 20, 0.5), outcomes(random, 20, 0.5)
	a.Values = slices.Clone(a.Values)
	a.Values[3], b.Values[7] = math.NaN(), math.NaN()
	boot, err := NewBootstrap([][]Items{{a}, {b}}, 10, 1)
	if err != nil || boot.Items != 18 {
		t.Errorf("%d common items (%v), want 18", boot.Items, err)
	}
	for i := range a.Values {
		a.Values[i] = math.NaN()
	}
	boot, err = NewBootstrap([][]Items{{a}, {b}}, 10, 1)
	if err != nil || boot.Score(1).Value.Valid() {
		t.Errorf("a score %v without common items (%v)", boot.Score(1), err)
	}
	b.Values = b.Values[:19]
	for name, groups := range map[string][][]Items{
		"other set": {{a}, {b}}, "no groups": nil, "no tables": {{a}, {}}, "first without tables": {{}},
	} {
		if _, err := NewBootstrap(groups, 10, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestQuantile(t *testing.T) {
	// numpy.quantile([1, 2, 4, 8], q)
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		near(t, "quantile", Quantile([]float64{1, 2, 4, 8}, q), want, 1e-12)
	}
	near(t, "one value", Quantile([]float64{5}, 0.3), 5, 0)
}
