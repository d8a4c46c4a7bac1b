package words

import (
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// TestItemsAgreeWithScore: the score computed from single items is the score of Score.
func TestItemsAgreeWithScore(t *testing.T) {
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
	dir := evaluatetest.Folder(t, map[string]string{"pairs.txt": pairs, "questions.txt": questions})
	for _, m := range []Method{CosAdd, CosMul} {
		o := Options{Methods: []Method{m}}
		results, _, err := Score(t.Context(), table, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		items, _, err := Items(t.Context(), table, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(items) != 2 {
			t.Fatalf("%d sets, want 2", len(items))
		}
		for _, i := range items {
			want := evaluatetest.Find(t, results, i.Dataset, i.Metric)
			b, err := evaluate.NewBootstrap([][]evaluate.Items{{i}}, 10, 1)
			if err != nil {
				t.Fatal(err)
			}
			evaluatetest.Near(t, i.Dataset+" "+i.Metric, float64(b.Score(0).Value), float64(want.Score), 1e-12)
			if b.Items != want.Found || len(i.Values) != want.Total {
				t.Errorf("%s: %d of %d items, want %d of %d", i.Dataset, b.Items, len(i.Values), want.Found, want.Total)
			}
		}
	}
	if _, _, err := Items(t.Context(), table, dir, Options{Methods: []Method{LRCos}}); err == nil {
		t.Error("LRCos has no single questions, but no error came")
	}
}
