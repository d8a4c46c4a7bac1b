package sentences

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

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// moodTable has words g0 ... g9 and b0 ... b9 that one dimension tells apart,
// and n0 ... n19 that it does not.
func moodTable(t *testing.T) *embedding.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	var words []string
	var vectors []float32
	for i := range 40 {
		kind, mood := "n", float32(0)
		switch {
		case i < 10:
			kind, mood = "g", 1
		case i < 20:
			kind, mood = "b", -1
		}
		words = append(words, fmt.Sprintf("%s%d", kind, i%20%10+i/30*10))
		vectors = append(vectors, 30*mood, 30*float32(random.NormFloat64()), 30*float32(random.NormFloat64()))
	}
	table, err := embedding.NewTable(words, 3, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// moodSet writes sentences of neutral and unknown words with one that tells the
// label.
func moodSet(random *rand.Rand, count int) string {
	var b strings.Builder
	for range count {
		label := random.IntN(2)
		words := []string{"unknown"}
		for range random.IntN(6) {
			words = append(words, fmt.Sprintf("n%d", random.IntN(20)))
		}
		words = append(words, fmt.Sprintf("%c%d", "bg"[label], random.IntN(10)))
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		fmt.Fprintf(&b, "%d %s \n", label, strings.Join(words, " "))
	}
	return b.String()
}

func TestScore(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	dir := evaluatetest.Folder(t, map[string]string{
		"rt-polarity.all":   moodSet(random, 800),
		"stsa.binary.train": moodSet(random, 800),
		"stsa.binary.dev":   moodSet(random, 40),
		"stsa.binary.test":  moodSet(random, 50),
		"edges.txt":         "1 2\n3 4\n",
		"pairs.txt":         "a b 3\nc d 4\n",
		".hidden":           "1 a\n",
	})
	told := map[string]int{}
	results, notes, err := Score(t.Context(), moodTable(t), dir, Options{Threads: 2, Progress: func(dataset string, done, total int) {
		if done == total {
			told[dataset] = total
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].Dataset != "MR" || results[1].Dataset != "SST-2" || len(notes) != 1 {
		t.Fatalf("results %+v, notes %q", results, notes)
	}
	for i, sentences := range []int{800, 890} {
		r := results[i]
		if r.Task != evaluate.TaskClassification || r.Metric != evaluate.MetricAccuracy || r.Score < 0.93 || r.Score > 1 {
			t.Errorf("%+v", r)
		}
		if r.Total-r.Found != sentences { // one unknown word each
			t.Errorf("%s: %d of %d words known, want all but %d", r.Dataset, r.Found, r.Total, sentences)
		}
	}
	if told["MR"] != folds || told["SST-2"] != 1 {
		t.Errorf("told of %v networks", told)
	}
	// A set that is there twice counts once.
	both := evaluatetest.Folder(t, map[string]string{"rt-polarity.all": "", "a/copy.txt": "", "stsa.binary.train": ""})
	for name, from := range map[string]string{"rt-polarity.all": "rt-polarity.all", "a/copy.txt": "rt-polarity.all", "stsa.binary.train": "stsa.binary.test"} {
		content, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(both, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := FindSets(t.Context(), both)
	names, notes := found.Names, found.Notes
	if err != nil || !slices.Equal(names, []string{"copy, 800 sentences"}) || len(notes) != 2 || !strings.Contains(notes[0], "rt-polarity: the same set as") {
		t.Errorf("sets %q, notes %q (%v)", names, notes, err)
	}
	// One file stands for its set.
	again, _, err := Score(t.Context(), moodTable(t), filepath.Join(dir, "stsa.binary.test"), Options{Threads: 1})
	if err != nil || len(again) != 1 || again[0] != results[1] {
		t.Errorf("of one part %+v (%v), want %+v", again, err, results[1])
	}
}

// TestScoreByChance: vectors that say nothing about the labels score
// like a coin.
func TestScoreByChance(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	table := moodTable(t)
	clear(table.Vectors[:3*20]) // of the words that tell
	dir := evaluatetest.Folder(t, map[string]string{"a.train": moodSet(random, 300), "a.test": moodSet(random, 300)})
	results, _, err := Score(t.Context(), table, dir, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if s := results[0].Score; s < 0.38 || s > 0.62 {
		t.Errorf("score %v", s)
	}
}

func TestScoreErrors(t *testing.T) {
	many := strings.Repeat("1 g0 n1\n0 b0 n1\n", 20)
	for name, test := range map[string]struct{ content, want string }{
		"no label":        {many + "g0 n1\n", `set.all:41: "g0" is not a label`},
		"only a label":    {many + "1\n", "set.all:41: a line is a label and the words"},
		"too few":         {"1 g0\n0 b0\n", "2 sentences to train on"},
		"one label":       {strings.Repeat("1 g0 n1\n", 40), "all sentences have the same label"},
		"another format":  {"a b 3\nc d 4\n", "no classification set found"},
		"edges of graphs": {"1 2\n2 3\n", "no classification set found"},
	} {
		dir := evaluatetest.Folder(t, map[string]string{"set.all": test.content})
		if _, _, err := Score(t.Context(), moodTable(t), dir, Options{Threads: 1}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
	dir := evaluatetest.Folder(t, map[string]string{"set.train": many, "other.all": many})
	_, notes, err := Score(t.Context(), moodTable(t), dir, Options{Threads: 1})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "needs .train and .test") {
		t.Errorf("notes %q (%v)", notes, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Score(ctx, moodTable(t), dir, Options{Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
