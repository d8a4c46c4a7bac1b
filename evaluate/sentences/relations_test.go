package sentences

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// markedSet writes sentences of which the mood of the first marked word, not those of the others,
// tells the relation, and its place the direction.
func markedSet(random *rand.Rand, count int) string {
	var b strings.Builder
	for i := range count {
		mood, far := random.IntN(2), random.IntN(2)
		between := strings.Repeat(fmt.Sprintf("n%d ", random.IntN(20)), 4*far)
		relation := []string{"Bad(e1,e2)", "Bad(e2,e1)", "Other", "Other"}[2*mood+far]
		fmt.Fprintf(&b, "%d\t\"%c%d, n%d <e1>%c%d</e1> %s<e2>n%d</e2>!\"\n%s\nComment: none\n\n", i, "bg"[random.IntN(2)], random.IntN(10),
			random.IntN(20), "bg"[mood], random.IntN(10), between, random.IntN(20), relation)
	}
	return b.String()
}

// TestRelations: the network knows which words are asked about.
func TestRelations(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	dir := evaluatetest.Folder(t, map[string]string{
		"SemEval2010_task8_training/TRAIN_FILE.TXT":         markedSet(random, 900),
		"SemEval2010_task8_testing_keys/TEST_FILE_FULL.TXT": markedSet(random, 200),
	})
	results, notes, err := Score(t.Context(), moodTable(t), dir, Options{Threads: 2})
	if err != nil || len(results) != 2 || len(notes) != 0 {
		t.Fatalf("%+v, %q, %v", results, notes, err)
	}
	for i, metric := range []string{evaluate.MetricMacroF1, evaluate.MetricAccuracy} {
		if r := results[i]; r.Metric != metric || r.Dataset != "SemEval-2010-8" || r.Score < 0.9 {
			t.Errorf("%+v", r)
		}
	}
}

func TestRelationF1(t *testing.T) {
	labels := []string{"Cause(e1,e2)", "Cause(e2,e1)", "Other", "Part(e1,e2)"}
	for _, x := range []struct {
		found, want []int
		f1          float64
	}{
		{[]int{0, 1, 2, 3}, []int{0, 1, 2, 3}, 1},
		{[]int{1, 0, 2, 3}, []int{0, 1, 2, 3}, 0.5}, // in the wrong directions
		{[]int{0, 0, 2, 2}, []int{0, 2, 0, 2}, 0.5},
		{[]int{2, 2}, []int{2, 2}, 0},
		{[]int{3, 3}, []int{0, 3}, (0 + 2./3) / 2},
	} {
		evaluatetest.Near(t, fmt.Sprint(x), relationF1(labels, x.found, x.want), x.f1, 1e-12)
	}
}

// TestReviews: folders of texts are a set, which an LSTM reads.
func TestReviews(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 4))
	files := map[string]string{"aclImdb/README": "Large Movie Review Dataset v1.0\n", "aclImdb/train/unsup/0_0.txt": "b1 g1"}
	for _, part := range []string{"train", "test"} {
		for i := range 300 {
			mood := random.IntN(2)
			text := fmt.Sprintf("N%d, %c%d.<br /><br />unknown (n%d)", random.IntN(20), "bg"[mood], random.IntN(10), random.IntN(20))
			files[fmt.Sprintf("aclImdb/%s/%s/%d_1.txt", part, []string{"neg", "pos"}[mood], i)] = text
		}
	}
	dir := evaluatetest.Folder(t, files)
	results, notes, err := Score(t.Context(), moodTable(t), dir, Options{Threads: 2})
	if err != nil || len(results) != 1 || len(notes) != 1 || !strings.Contains(notes[0], "README") {
		t.Fatalf("%+v, %q, %v", results, notes, err)
	}
	if r := results[0]; r.Dataset != "IMDB" || r.Metric != evaluate.MetricAccuracy || r.Score < 0.9 || r.Total != 4*600 || r.Found != 3*600 {
		t.Errorf("%+v", r)
	}
}
