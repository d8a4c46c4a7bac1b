package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

// exampleItems are the items in the examples of all formats of a task.
var exampleItems = map[string]Set{
	evaluate.TaskSimilarity:     {Pairs: []Pair{{"tiger", "cat", 7.35}, {"ice", "cream", 9}}},
	evaluate.TaskAnalogy:        {Sections: []Section{{"JJ_JJR", []Question{{A: "good", B: "better", C: "rough", D: "rougher"}}}}},
	evaluate.TaskCategorization: {Members: []Member{{"tiger", "animal"}, {"cream", "food"}}},
	evaluate.TaskClassification: {Sentences: []Sentence{
		{Label: "1", Words: []string{"the", "tiger", "likes", "ice", "cream"}}, {Label: "0", Words: []string{"the", "cat", "does", "not"}},
	}},
	// Of formats that hold other items than the rest of their task.
	"BATS": {Sections: []Section{{"example", []Question{
		{A: "good", B: "better", C: "rough", D: "rougher", Also: []string{"coarser"}}, {A: "rough", B: "rougher", C: "good", D: "better", Also: []string{}},
	}}}},
	"a label of TREC, as DESC": {Sentences: []Sentence{
		{Label: "ANIM", Words: []string{"the", "tiger", "likes", "ice", "cream"}}, {Label: "PET", Words: []string{"the", "cat", "does", "not"}},
	}},
	"a number, a tab and a quoted sentence with <e1> and <e2>": {Sentences: []Sentence{
		{Label: "Cause-Effect(e1,e2)", Words: []string{"The", "tiger", "eats", "ice", "cream"}, Ends: []int{1, 4}},
		{Label: "Other", Words: []string{"A", "cat", "too"}, Ends: []int{1, 2}},
	}},
}

// TestFormats: every format has an example, which is told from all other formats
// and read; its name fits a line of help, and stands in the package comment.
func TestFormats(t *testing.T) {
	source, err := os.ReadFile("formats.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "\npackage ")
	comment = strings.Join(strings.Fields(strings.ReplaceAll(comment, "//", " ")), " ")
	for i, f := range Formats() {
		if f.Name == "" || len(f.Name) > 74 || !strings.Contains(comment, f.Name) {
			t.Errorf("the name %q is too long or not in the package comment", f.Name)
		}
		path := filepath.Join(evaluatetest.Folder(t, map[string]string{"example": f.Example}), "example")
		if found, err := formatOf(path); err != nil || found != &formats[i] {
			t.Errorf("%s, %s: the example is %+v (%v)", f.Task, f.Name, found, err)
			continue
		}
		want := exampleItems[f.Task]
		if begin, _, _ := strings.Cut(f.Name, ":"); len(exampleItems[begin].Sections)+len(exampleItems[begin].Sentences) > 0 {
			want = exampleItems[begin]
		}
		want.Task = f.Task
		if got, err := readSet(path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: got %+v (%v), want %+v", f.Task, f.Name, got, err, want)
		}
		if f.Task == evaluate.TaskClassification {
			continue
		}
		if sets, notes, err := Find(t.Context(), path, ""); err != nil || len(sets) != 1 || len(notes) != 0 {
			t.Errorf("%s, %s: found %+v, notes %q (%v)", f.Task, f.Name, sets, notes, err)
		}
	}
}
