package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
)

// folder writes files and returns where.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// animals: cos(cat,dog) = 0.8, cos(cat,car) = 0, cos(dog,car) = 0.6.
func animals(t testing.TB) *embedding.Table {
	t.Helper()
	table, err := embedding.NewTable([]string{"cat", "dog", "car"}, 2, []float32{1, 0, 4, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestReadSimilarity(t *testing.T) {
	want := []pair{{"tiger", "cat", 7.35}, {"ice", "cream", 9}}
	for name, content := range map[string]string{
		"tabs":               "tiger\tcat\t7.35\nice\tcream\t9\n",
		"spaces":             "tiger cat  7.35\nice cream 9.0",
		"commas":             "tiger,cat,7.35\nice, cream, 9\n",
		"carriage returns":   "tiger\tcat\t7.35\r\nice\tcream\t9\r\n",
		"byte-order mark":    "\uFEFFtiger\tcat\t7.35\nice\tcream\t9\n",
		"comments":           "# WordSim\n# Word 1\tWord 2\tHuman (mean)\n\ntiger\tcat\t7.35\nice\tcream\t9\n",
		"titles":             "Word 1,Word 2,Human (mean)\ntiger,cat,7.35\nice,cream,9\n",
		"unknown titles":     "a\tb\tc\ntiger\tcat\t7.35\nice\tcream\t9\n",
		"SimLex-999":         "word1\tword2\tPOS\tSimLex999\tconc(w1)\tAssoc(USF)\tSimAssoc333\ntiger\tcat\tN\t7.35\t2.72\t7.25\t1\nice\tcream\tN\t9\t1\t1\t0\n",
		"SimVerb-3500":       "tiger\tcat\tV\t7.35\tSYNONYMS\nice\tcream\tV\t9\tNONE\n",
		"more score columns": "tiger\tcat\t7.35\t8\t7\nice\tcream\t9\t9\t9\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"set.txt": content})
			got, err := readSimilarity(filepath.Join(dir, "set.txt"))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
			sets, _, err := findDatasets(dir, "")
			if err != nil || len(sets) != 1 || sets[0].task != TaskSimilarity {
				t.Errorf("found %v, %v", sets, err)
			}
		})
	}
}

func TestReadAnalogies(t *testing.T) {
	q := func(words string) question {
		f := strings.Fields(words)
		return question{f[0], f[1], f[2], f[3]}
	}
	for name, c := range map[string]struct {
		content string
		want    []section
	}{
		"word2vec": {"// Copyright\n: capital\na b c d\r\n\ne f g h\n: family\ni j k l\n",
			[]section{{"capital", []question{q("a b c d"), q("e f g h")}}, {"family", []question{q("i j k l")}}}},
		"sections come again": {": x\na b c d\n: y\na b c d\n: x\ne f g h\n",
			[]section{{"x", []question{q("a b c d"), q("e f g h")}}, {"y", []question{q("a b c d")}}}},
		"without sections": {"a b c d\ne\tf\tg\th\n", []section{{"", []question{q("a b c d"), q("e f g h")}}}},
		"MSR": {"good better rough JJ_JJR rougher\nlarge larger tall JJ_JJR taller\ncat cats dog NN_NNS dogs\nx y z NNPOS_NN u\n",
			[]section{{"JJ_JJR", []question{q("good better rough rougher"), q("large larger tall taller")}},
				{"NN_NNS", []question{q("cat cats dog dogs")}}, {"NNPOS_NN", []question{q("x y z u")}}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"set.txt": c.content})
			got, err := readAnalogies(filepath.Join(dir, "set.txt"))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
			sets, _, err := findDatasets(dir, "")
			if err != nil || len(sets) != 1 || sets[0].task != TaskAnalogy {
				t.Errorf("found %v, %v", sets, err)
			}
		})
	}
}

// TestBadLines: a set with a bad line is an error with file and line, not a
// lower score.
func TestBadLines(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"score":        {"# title\na\tb\t1\nc\td\t2\ne\tf\tx\n", `set.txt:4: "x" is not a score`},
		"NaN":          {"a\tb\t1\nc\td\tnan\ne\tf\t3\ng\th\t3\n", `set.txt:2: "nan" is not a score`},
		"columns":      {"a b 1\nc 2\nd e 3\nf g 4\n", "set.txt:2: 2 columns, but the score is column 3"},
		"word":         {"a\tb\t1\nd\te\t3\nf\t\t2\n", "set.txt:3: a word is missing"},
		"question":     {": x\na b c d\n\na b c\n", "set.txt:4: 3 words; a question has 4"},
		"five words":   {": x\na b c d\na b c d\na b c d e\n", "set.txt:4: 5 words; a question has 4"},
		"section name": {": x\na b c d\n: \na b c d\n", "set.txt:3: the section has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"set.txt": c.content})
			_, _, err := Run(context.Background(), animals(t), dir, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func namesOf(sets []dataset) (names []string) {
	for _, s := range sets {
		names = append(names, s.task+" "+s.name)
	}
	return names
}

func TestFindDatasets(t *testing.T) {
	pairs := 0
	similar := func() string { // another set each time
		pairs++
		return fmt.Sprintf("a b %d\nc d 2\n", pairs)
	}
	dir := folder(t, map[string]string{
		"similarity/EN-WS-353-ALL.txt":  similar(),
		"similarity/EN-WS-353-SIM.txt":  similar(),
		"similarity/wordsim353.tsv":     similar(),
		"similarity/EN-SIMLEX-999.txt":  similar(),
		"similarity/EN-MEN-TR-3k.txt":   similar(),
		"similarity/EN-RW-STANFORD.txt": similar(),
		"similarity/mental-states.txt":  similar(),
		"other/mental-states.txt":       similar(),
		"other/again/mental-states.txt": similar(),
		"analogy/questions-words.txt":   ": s\na b c d\n",
		"analogy/MSR.txt":               "a b c d\n",
		"README.md":                     "# Data\n\nThese files are word similarity sets.\nSee the paper.\n",
		"categorization/ap.csv":         "index,category,word\n0,tree,acacia\n1,tree,apple\n",
		"categorization/EN-BLESS.txt":   "alligator-n\tanimal\tattri\tgreen-j\n",
		"classification/reviews.all":    "1 the rock is destined to be\n0 simplistic , silly and tedious .\n",
		"graphs/edges.txt":              "1 2\n2 3\n",
		"graphs/weighted.txt":           "1 2 0.5\n2 3 0.25\n",
		"graphs/binary.mat":             "MATLAB\x00\x01",
		"empty.txt":                     "",
		"comments.txt":                  "# nothing\n",
		"one-word.txt":                  "word\n",
		".hidden/set.txt":               similar(),
		".set.txt.swp":                  similar(),
	})
	sets, notes, err := findDatasets(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ // in the order of the paths; a name goes to the first that asks
		"analogy MSR", "analogy Google", "categorization BLESS", "categorization AP",
		"similarity mental-states", "similarity other/mental-states.txt",
		"similarity MEN", "similarity RW", "similarity SimLex-999", "similarity WS-353", "similarity WS-353-SIM",
		"similarity similarity/mental-states.txt", "similarity wordsim353",
	}
	if got := namesOf(sets); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(notes) != 7 {
		t.Errorf("%d notes: %q", len(notes), notes)
	}
	for _, note := range notes {
		if !strings.Contains(note, "skipped") {
			t.Errorf("note %q", note)
		}
	}
}

// TestSameSets: a set counts once, in whatever formats and orders it is there; sets
// that only look alike count each.
func TestSameSets(t *testing.T) {
	dir := folder(t, map[string]string{
		"EN-WS-353-ALL.txt":     "Tiger\tcat\t7.35\ntiger\ttiger\t10.00\n",
		"copy/ws353.csv":        "Word 1,Word 2,Human (mean)\ntiger,tiger,10\nTiger,cat,7.35\n",
		"other-scores.txt":      "Tiger\tcat\t7.35\ntiger\ttiger\t9\n",
		"fewer.txt":             "tiger\ttiger\t10.00\n",
		"questions-words.txt":   ": s\na b c d\ne f g h\n",
		"copy/questions.txt":    "// the same\n: s\ne f g h\na b c d\n",
		"other-section.txt":     ": t\na b c d\ne f g h\n",
		"categories.csv":        "word,category\na,x\nb,y\n",
		"copy/categories.tsv":   "category\tword\nx\ta\ny\tb\n",
		"other-categories.csv":  "word,category\na,y\nb,x\n",
		"copy/similar/copy.txt": "a b 1\n",
	})
	sets, notes, err := findDatasets(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"similarity WS-353", "categorization categories", "analogy Google", "similarity copy", "similarity fewer",
		"categorization other-categories", "similarity other-scores", "analogy other-section",
	}
	if got := namesOf(sets); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	note := filepath.Join(dir, "copy", "ws353.csv") + ": the same set as " + filepath.Join(dir, "EN-WS-353-ALL.txt") + ", counted once"
	if len(notes) != 3 || notes[1] != note {
		t.Errorf("notes %q", notes)
	}
	if sets, notes, err = findDatasets(dir, TaskSimilarity); len(sets) != 4 || len(notes) != 1 || err != nil {
		t.Errorf("of one task: %d sets, notes %q (%v)", len(sets), notes, err)
	}
}

func TestRunErrors(t *testing.T) {
	dir := folder(t, map[string]string{"README": "nothing here\n", "good/set.txt": "a b 1\n"})
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		dir  string
		o    Options
		want string
	}{
		"no set":         {ctx, filepath.Join(dir, "README"), Options{}, "no similarity, analogy or categorization set found"},
		"empty folder":   {ctx, t.TempDir(), Options{}, "no similarity, analogy or categorization set found"},
		"no folder":      {ctx, filepath.Join(dir, "none"), Options{}, "none"},
		"OOV":            {ctx, dir, Options{OOV: "guess"}, `unknown rule "guess"`},
		"method":         {ctx, dir, Options{Methods: []Method{"4cos"}}, `unknown analogy method "4cos"`},
		"method twice":   {ctx, dir, Options{Methods: []Method{CosAdd, CosAdd}}, "given twice"},
		"restrict vocab": {ctx, dir, Options{RestrictVocab: -1}, "restricted to -1 words"},
		"cancelled":      {cancelled, dir, Options{}, "canceled"},
	} {
		if _, _, err := Run(c.ctx, animals(t), c.dir, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestSimilarityByHand: cosines 0.8, 0 and 0.6 of three known pairs, and one
// pair with an unknown word.
func TestSimilarityByHand(t *testing.T) {
	dir := folder(t, map[string]string{"set.txt": "cat Dog 9\ncat car 1\nDOG car 8\ncat unicorn 5\n"})
	pearson := func(x ...float64) float64 { return Pearson(x, []float64{9, 1, 8, 5}[:len(x)]) }
	// The mean of the rows (1,0), (4,3) and (0,2) is (5,5)/3: its cosine with
	// cat is √½.
	for _, c := range []struct {
		oov               OOV
		spearman, pearson float64
	}{
		{"", 1, pearson(0.8, 0, 0.6)},
		{OOVSkip, 1, pearson(0.8, 0, 0.6)},
		// ranks 4 1.5 3 1.5 against 4 1 3 2
		{OOVZero, 4.5 / math.Sqrt(4.5*5), pearson(0.8, 0, 0.6, 0)},
		// ranks 4 1 2 3 against 4 1 3 2
		{OOVMean, 0.8, pearson(0.8, 0, 0.6, math.Sqrt(0.5))},
	} {
		results, notes, err := Run(context.Background(), animals(t), dir, Options{OOV: c.oov})
		if err != nil || len(notes) != 0 || len(results) != 2 {
			t.Fatalf("%v, %v, %v", results, notes, err)
		}
		for i, want := range []float64{c.spearman, c.pearson} {
			r := results[i]
			near(t, string(c.oov)+" "+r.Metric, float64(r.Score), want, 1e-6)
			if r.Found != 3 || r.Total != 4 || r.Task != "similarity" || r.Dataset != "set" {
				t.Errorf("%+v", r)
			}
		}
	}
}

// TestCompose: unseen words get composed vectors, asked for once, in lower case
// where the table has no capital letters.
func TestCompose(t *testing.T) {
	dir := folder(t, map[string]string{
		"set.txt":       "cat Dog 9\ncat car 1\nDOG car 8\ncat Unicorn 5\nUnicorn Gnu 7\n",
		"questions.txt": ": s\ncat dog car unicorn\ncat dog car cat\n",
	})
	capital, err := embedding.NewTable([]string{"Cat", "dog", "car"}, 2, []float32{1, 0, 4, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table         *embedding.Table
		caseSensitive bool
		set           string
		want          []string
	}{
		{animals(t), false, "set.txt", []string{"unicorn", "gnu"}},
		{capital, false, "set.txt", []string{"Unicorn", "Gnu"}},
		{animals(t), true, "set.txt", []string{"Dog", "DOG", "Unicorn", "Gnu"}},
	} {
		var got []string
		o := Options{OOV: OOVCompose, CaseSensitive: c.caseSensitive, Compose: func(words []string, dst []float32) error {
			got = append(got, words...)
			for i := range words { // (1, 1), (2, 1), ...
				dst[2*i], dst[2*i+1] = float32(1+i), 1
			}
			return nil
		}}
		results, _, err := Run(context.Background(), c.table, filepath.Join(dir, c.set), o)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("composed %v, want %v (error %v)", got, c.want, err)
		}
		if r := results[1]; !c.caseSensitive && (r.Found != 3 || r.Composed != 2 || r.Total != 5) {
			t.Errorf("%+v", r)
		}
		if !c.caseSensitive { // cosines 0.8, 0, 0.6, then with (1,1) and of it with (2,1)
			want := Pearson([]float64{0.8, 0, 0.6, math.Sqrt(0.5), 3 / math.Sqrt(10)}, []float64{9, 1, 8, 5, 7})
			near(t, "composed", float64(results[1].Score), want, 1e-6)
		}
	}
	o := Options{OOV: OOVCompose, Compose: func([]string, []float32) error { return errors.New("no vector") }}
	if _, _, err := Run(context.Background(), animals(t), filepath.Join(dir, "set.txt"), o); err == nil || !strings.Contains(err.Error(), "no vector") {
		t.Errorf("got %v", err)
	}
	results, _, err := Run(context.Background(), animals(t), filepath.Join(dir, "questions.txt"), o)
	if err != nil || results[0].Found != 1 || results[0].Total != 2 || results[0].Composed != 0 {
		t.Errorf("questions: %+v, %v", results, err)
	}
	if _, _, err := Run(context.Background(), animals(t), dir, Options{OOV: OOVCompose}); err == nil {
		t.Error("no error without anything to compose")
	}
}

// TestNoScore: what has no score says so, and never prints NaN.
func TestNoScore(t *testing.T) {
	dir := folder(t, map[string]string{
		"constant-human.txt": "cat dog 5\ncat car 5\ndog car 5\n",
		"constant-model.txt": "cat cat 1\ndog dog 2\ncar car 3\n",
		"one-pair.txt":       "cat dog 5\nx y 1\n",
		"unknown.txt":        "x y 5\nz u 6\n",
		"questions.txt":      ": s\na b c d\ncat dog car unicorn\n",
	})
	results, _, err := Run(context.Background(), animals(t), dir, Options{Sections: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 3*3+4*2 {
		t.Errorf("%d results: %v", len(results), results)
	}
	for _, r := range results {
		if r.Score.Valid() || r.Score.String() != "n/a" {
			t.Errorf("%+v has a score", r)
		}
	}
	text, err := json.Marshal(results)
	if err != nil || strings.Contains(string(text), "NaN") || !strings.Contains(string(text), `"score":null,"found":1,"total":2`) {
		t.Errorf("%s, %v", text, err)
	}
	// Unknown words counted as wrong give a score.
	results, _, err = Run(context.Background(), animals(t), filepath.Join(dir, "questions.txt"), Options{OOV: OOVZero})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Score != 0 || r.Found != 0 {
			t.Errorf("%+v, want score 0", r)
		}
	}
}

func TestResultJSON(t *testing.T) {
	want := []Result{
		{Task: TaskSimilarity, Dataset: "WS-353", Metric: MetricSpearman, Score: 0.625, Found: 351, Total: 353, Composed: 2},
		newResult(TaskAnalogy, "Google", "lrcos-macro", NoScore, 0, 573),
		{Task: TaskNodes, Dataset: "blogs/50%", Metric: MetricMicroF1, Score: 0.5, Found: 9, Total: 10, Deviation: 0.25},
	}
	text, err := json.Marshal(want)
	const expected = `[{"task":"similarity","dataset":"WS-353","metric":"spearman","score":0.625,"found":351,"total":353,"composed":2},` +
		`{"task":"analogy","dataset":"Google","metric":"lrcos-macro","score":null,"found":0,"total":573},` +
		`{"task":"nodes","dataset":"blogs/50%","metric":"micro-f1","score":0.5,"found":9,"total":10,"deviation":0.25}]`
	if err != nil || string(text) != expected {
		t.Errorf("got %s, %v\nwant %s", text, err, expected)
	}
	var got []Result
	if err := json.Unmarshal(text, &got); err != nil || got[0] != want[0] || got[1].Score.Valid() || got[2] != want[2] {
		t.Errorf("got %v, %v", got, err)
	}
	if s := got[0].Score.String(); s != "0.625" {
		t.Errorf("String() = %q", s)
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct{ values, want []float64 }{
		{nil, []float64{}},
		{[]float64{7}, []float64{1}},
		{[]float64{3, 1, 2}, []float64{3, 1, 2}},
		{[]float64{2, 1, 2, 2}, []float64{3, 1, 3, 3}},
		{[]float64{1, 1}, []float64{1.5, 1.5}},
	} {
		if got := ranks(c.values); !slices.Equal(got, c.want) {
			t.Errorf("ranks(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

// FuzzRun: no content of a data set makes a reader panic or a score leave its
// range.
func FuzzRun(f *testing.F) {
	for _, content := range []string{
		"cat dog 1\ncat car 2\n", ": s\ncat dog cat car\n", "word1\tword2\tPOS\tSimLex999\na\tb\tN\t1\n",
		"a,b,c\n", ":\n", "cat dog 1e308\ncat car -1e308\ndog car 1e308\n", "cat dog car NN_NNS cat\n", "a\t\t1\n\t\t\n",
		"category,word\nx,cat\ny,dog\n", "class\tconcept\nx\t\"cat\ny\tdog\n", "cat-n\tx\tattri\tdog-n\ndog-n\ty\tmero\t\n",
	} {
		f.Add(content)
	}
	table := animals(f)
	f.Fuzz(func(t *testing.T, content string) {
		dir := folder(t, map[string]string{"set": content})
		results, _, err := Run(context.Background(), table, dir, Options{OOV: OOVZero, Sections: true})
		if err != nil {
			return
		}
		for _, r := range results {
			if s := float64(r.Score); s < -1 || s > 1 || math.IsInf(s, 0) || r.Found > r.Total {
				t.Errorf("%+v", r)
			}
		}
		if _, err := json.Marshal(results); err != nil {
			t.Error(err)
		}
	})
}
