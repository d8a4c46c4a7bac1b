package dataset

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// readSet reads a file in the format that its first lines show.
func readSet(path string) (s Set, err error) {
	format, err := formatOf(path)
	if err != nil {
		return s, err
	}
	if format == nil {
		return s, errors.New("no format")
	}
	s.Task = format.Task
	return s, format.read(context.Background(), path, &s)
}

func TestReadSimilarity(t *testing.T) {
	want := []Pair{{"tiger", "cat", 7.35}, {"ice", "cream", 9}}
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
		"MEN's lemmas":       "tiger-n cat-n 7.35\nice-n cream-j 9\n",
		"more score columns": "tiger\tcat\t7.35\t8\t7\nice\tcream\t9\t9\t9\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := evaluatetest.Folder(t, map[string]string{"set.txt": content})
			s, err := readSet(filepath.Join(dir, "set.txt"))
			if err != nil || !reflect.DeepEqual(s.Pairs, want) {
				t.Errorf("got %v, %v; want %v", s.Pairs, err, want)
			}
			sets, _, err := Find(t.Context(), dir, "")
			if err != nil || len(sets) != 1 || sets[0].Task != evaluate.TaskSimilarity {
				t.Errorf("found %v, %v", sets, err)
			}
		})
	}
}

func TestReadAnalogies(t *testing.T) {
	q := func(words string) Question {
		f := strings.Fields(words)
		return Question{A: f[0], B: f[1], C: f[2], D: f[3]}
	}
	for name, c := range map[string]struct {
		content string
		want    []Section
	}{
		"word2vec": {"// Copyright\n: capital\na b c d\r\n\ne f g h\n: family\ni j k l\n",
			[]Section{{"capital", []Question{q("a b c d"), q("e f g h")}}, {"family", []Question{q("i j k l")}}}},
		"sections come again": {": x\na b c d\n: y\na b c d\n: x\ne f g h\n",
			[]Section{{"x", []Question{q("a b c d"), q("e f g h")}}, {"y", []Question{q("a b c d")}}}},
		"without sections": {"a b c d\ne\tf\tg\th\n", []Section{{"", []Question{q("a b c d"), q("e f g h")}}}},
		"MSR": {"good better rough JJ_JJR rougher\nlarge larger tall JJ_JJR taller\ncat cats dog NN_NNS dogs\nx y z NNPOS_NN u\n",
			[]Section{{"JJ_JJR", []Question{q("good better rough rougher"), q("large larger tall taller")}},
				{"NN_NNS", []Question{q("cat cats dog dogs")}}, {"NNPOS_NN", []Question{q("x y z u")}}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := evaluatetest.Folder(t, map[string]string{"set.txt": c.content})
			s, err := readSet(filepath.Join(dir, "set.txt"))
			if err != nil || !reflect.DeepEqual(s.Sections, c.want) {
				t.Errorf("got %v, %v; want %v", s.Sections, err, c.want)
			}
			sets, _, err := Find(t.Context(), dir, "")
			if err != nil || len(sets) != 1 || sets[0].Task != evaluate.TaskAnalogy {
				t.Errorf("found %v, %v", sets, err)
			}
		})
	}
}

// TestBadLines: a set with a bad line is an error with file and line, not a
// lower score.
func TestBadLines(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"score":              {"# title\na\tb\t1\nc\td\t2\ne\tf\tx\n", `set.txt:4: "x" is not a score`},
		"NaN":                {"a\tb\t1\nc\td\tnan\ne\tf\t3\ng\th\t3\n", `set.txt:2: "nan" is not a score`},
		"columns":            {"a b 1\nc 2\nd e 3\nf g 4\n", "set.txt:2: 2 columns, but the score is column 3"},
		"word":               {"a\tb\t1\nd\te\t3\nf\t\t2\n", "set.txt:3: a word is missing"},
		"question":           {": x\na b c d\n\na b c\n", "set.txt:4: 3 words; a question has 4"},
		"five words":         {": x\na b c d\na b c d\na b c d e\n", "set.txt:4: 5 words; a question has 4"},
		"answer":             {"a\tb\nc\td/e\nf\t/\n", "set.txt:3: a word or its answer is missing"},
		"columns of answers": {"a\tb\nc\td/e\nf\tg\th\n", "set.txt:3: a line is a word, a tab and its answers"},
		"one pair":           {"a\tb\n", "set.txt: 1 pairs of words; a relation has from 2 to 1000"},
		"lemma":              {"a-n b-n 1\nc-n d-v 2\ne-n f 3\n", `set.txt:3: "f" does not end in -n, -v or -j`},
		"section name":       {": x\na b c d\n: \na b c d\n", "set.txt:3: the section has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := evaluatetest.Folder(t, map[string]string{"set.txt": c.content})
			_, _, err := Find(t.Context(), dir, "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestReadCategories(t *testing.T) {
	want := []Member{{"acacia", "tree"}, {"apple", "fruit"}}
	for name, content := range map[string]string{
		"pandas":     ",category,word\n0,tree,acacia\n1,fruit,apple\n",
		"tabs":       "\tcategory\tword\n0\ttree\tacacia\n1\tfruit\tapple\n",
		"class":      "concept,class\nacacia,tree\r\n\"apple\",fruit\r\n",
		"comments":   "\uFEFF# words\n\nWord,Category\n#x,y\nacacia,tree\napple,fruit\n",
		"twice":      "word,category\nacacia,tree\n,tree\napple,fruit\nacacia,tree\n",
		"BLESS":      "acacia-n\ttree\tattri\ttall-j\nacacia-n\ttree\tcoord\toak-n\napple-n\tfruit\trandom-v\tgo-v\n",
		"more words": "word,category,note\n acacia , tree ,\napple,fruit,\n",
	} {
		path := filepath.Join(evaluatetest.Folder(t, map[string]string{"set.csv": content}), "set.csv")
		s, err := readSet(path)
		if err != nil || !slices.Equal(s.Members, want) {
			t.Errorf("%s: %v, %v", name, s.Members, err)
		}
		if s.Task != evaluate.TaskCategorization {
			t.Errorf("%s: task %q", name, s.Task)
		}
	}
	for name, c := range map[string]struct{ content, want string }{
		"columns":  {"x,category,word\n1,tree,acacia\n2,tree\n", "set.csv:3: 2 columns, but 3 are needed"},
		"category": {"category,word\n,acacia\n", "set.csv:2: the category is missing"},
		"no words": {"category,word\n", "set.csv: no words"},
		"titles":   {"// x\ncategory,word\ntree,acacia\n", "no titles \"category\" and \"word\" in the first line"},
	} {
		dir := evaluatetest.Folder(t, map[string]string{"set.csv": c.content})
		if _, _, err := Find(t.Context(), dir, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
