package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// outcomes makes outcomes of questions, of which about the given share is right.
func outcomes(random *rand.Rand, n int, right float64) evaluate.Items {
	items := evaluate.Items{Task: evaluate.TaskAnalogy, Dataset: "set", Metric: "3cosadd"}
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
	boot, err := evaluate.NewBootstrap([][]evaluate.Items{{a}, {b}, {a, b}}, 4000, 1)
	if err != nil {
		t.Fatal(err)
	}
	shareA := stat.Mean(a.Values, nil)
	deviation := math.Sqrt(shareA * (1 - shareA) / n)
	score := boot.Score(0)
	evaluatetest.Near(t, "score", float64(score.Value), shareA, 1e-12)
	evaluatetest.Near(t, "low", float64(score.Low), shareA-1.96*deviation, 0.2*deviation)
	evaluatetest.Near(t, "high", float64(score.High), shareA+1.96*deviation, 0.2*deviation)
	evaluatetest.Near(t, "mean of a group", float64(boot.Score(2).Value), (shareA+stat.Mean(b.Values, nil))/2, 1e-12)

	difference, p := boot.Difference(1, 0)
	evaluatetest.Near(t, "difference", float64(difference.Value), stat.Mean(b.Values, nil)-shareA, 1e-12)
	if p > 0.001 || difference.Low <= 0 {
		t.Errorf("a tenth more right answers of a thousand: p %v, interval %+v", p, difference)
	}
	opposite, q := boot.Difference(0, 1)
	evaluatetest.Near(t, "low the other way round", float64(opposite.Low), -float64(difference.High), 1e-12)
	evaluatetest.Near(t, "high the other way round", float64(opposite.High), -float64(difference.Low), 1e-12)
	evaluatetest.Near(t, "p the other way round", float64(q), float64(p), 0)
	if same, p := boot.Difference(0, 0); same.Value != 0 || same.Low > 0 || same.High < 0 || p != 1 {
		t.Errorf("a group and itself: %+v, p %v", same, p)
	}
	again, err := evaluate.NewBootstrap([][]evaluate.Items{{a}, {b}, {a, b}}, 4000, 1)
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
		boot, err := evaluate.NewBootstrap([][]evaluate.Items{{outcomes(random, 150, 0.5)}, {outcomes(random, 150, 0.5)}}, 200, 7)
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
	boot, err := evaluate.NewBootstrap([][]evaluate.Items{{a}, {b}}, 10, 1)
	if err != nil || boot.Items != 18 {
		t.Errorf("%d items of both (%v), want 18", boot.Items, err)
	}
	for i := range a.Values {
		a.Values[i] = math.NaN()
	}
	boot, err = evaluate.NewBootstrap([][]evaluate.Items{{a}, {b}}, 10, 1)
	if err != nil || boot.Score(1).Value.Valid() {
		t.Errorf("a score %v without items of both (%v)", boot.Score(1), err)
	}
	b.Values = b.Values[:19]
	for name, groups := range map[string][][]evaluate.Items{
		"other set": {{a}, {b}}, "no groups": nil, "no tables": {{a}, {}}, "first without tables": {{}},
	} {
		if _, err := evaluate.NewBootstrap(groups, 10, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestBootstrapAgainstSciPy: p is that of SciPy's bootstrap within the error of both
// samples, also where many resamples have no score.
func TestBootstrapAgainstSciPy(t *testing.T) {
	var golden []struct {
		Human, First, Second []float64
		Defined              float64 // share of the resamples
		Low, High, P         float64
	}
	evaluatetest.Golden(t, "testdata/golden_bootstrap.json", &golden)
	const resamples = 20000
	for i, c := range golden {
		items := func(values []float64) []evaluate.Items {
			return []evaluate.Items{{Dataset: "set", Values: values, Human: c.Human}}
		}
		boot, err := evaluate.NewBootstrap([][]evaluate.Items{items(c.First), items(c.Second)}, resamples, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		difference, p := boot.Difference(0, 1)
		what := fmt.Sprintf("case %d, %d items", i, len(c.First))
		// Twice the tail, whose share has that standard error here and a smaller one there.
		n := c.Defined * resamples
		evaluatetest.Near(t, what+": p", float64(p), c.P, 2*(4*math.Sqrt(c.P/2*(1-c.P/2)/n)*math.Sqrt(1.2)+1/n))
		if len(c.First) >= 300 { // with few items a bound is one of few numbers, and jumps
			evaluatetest.Near(t, what+": low", float64(difference.Low), c.Low, 0.05*(c.High-c.Low))
			evaluatetest.Near(t, what+": high", float64(difference.High), c.High, 0.05*(c.High-c.Low))
		}
	}
}

// TestBootstrapOfFewItems: nobody can tell two tables apart by two items or by none,
// nor where no resample has a score.
func TestBootstrapOfFewItems(t *testing.T) {
	none := math.NaN()
	for name, c := range map[string]struct {
		human, first, second []float64
		value                float64
	}{
		"no question":      {nil, nil, nil, none},
		"unknown question": {nil, []float64{none}, []float64{1}, none},
		"one question":     {nil, []float64{1}, []float64{0}, 1},
		"two questions":    {nil, []float64{1, 1}, []float64{0, 0}, 1},
		"one pair":         {[]float64{1}, []float64{1}, []float64{1}, none},
		"two pairs":        {[]float64{1, 2}, []float64{1, 2}, []float64{2, 1}, 2},
		"equal judgements": {[]float64{1, 1, 1, 1}, []float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, none},
		"equal cosines":    {[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, []float64{1, 1, 1, 1}, none},
	} {
		items := func(values []float64) []evaluate.Items {
			return []evaluate.Items{{Dataset: "set", Values: values, Human: c.human}}
		}
		boot, err := evaluate.NewBootstrap([][]evaluate.Items{items(c.first), items(c.second)}, 100, 1)
		if err != nil {
			t.Fatal(err)
		}
		difference, p := boot.Difference(0, 1)
		evaluatetest.Near(t, name, float64(difference.Value), c.value, 1e-12)
		if p.Valid() || difference.Low.Valid() || difference.High.Valid() {
			t.Errorf("%s: %+v, p %v", name, difference, p)
		}
		if score := boot.Score(0); len(c.first) < 3 && (score.Low.Valid() || score.High.Valid()) {
			t.Errorf("%s: score %+v", name, score)
		}
	}
}
