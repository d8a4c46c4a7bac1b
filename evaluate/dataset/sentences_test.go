package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"
)

func TestReadSentences(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{
		"latin1":  "1 na\xefve charm .\n0 dull \n",
		"numbers": "0 in 1999 , 42\n1 1999 was better\n",
	})
	read := func(name string) ([]Sentence, error) {
		var s Set
		err := readSentences(t.Context(), filepath.Join(dir, name), &s)
		return s.Sentences, err
	}
	got, err := read("latin1")
	if err != nil || len(got) != 2 || got[0].Label != "1" || strings.Join(got[0].Words, " ") != "na\uFFFDve charm ." {
		t.Errorf("%+v (%v)", got, err)
	}
	if got, err = read("numbers"); err != nil || len(got) != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
}

// TestBadTexts: errors of marked sentences and of reviews name the file and the line.
func TestBadTexts(t *testing.T) {
	const good = "1\t\"The <e1>cat</e1> eats the <e2>fish</e2>.\"\nCause-Effect(e1,e2)\nComment:\n\n"
	for name, test := range map[string]struct{ file, content, want string }{
		"no marks":   {"set.txt", good + "2\t\"The cat\"\nOther\n", "set.txt:5: no sentence with <e1> and <e2>"},
		"no word":    {"set.txt", good + "2\t\"The <e1>cat</e1> <e2>!</e2>\"\nOther\n", "set.txt:5: no word between <e2> and </e2>"},
		"no label":   {"set.txt", good + "2\t\"The <e1>cat</e1> <e2>eats</e2>\"\n", "set.txt:5: no relation in the next line"},
		"empty file": {"test/pos/1_1.txt", " <br />\n", "1_1.txt: the review has no words"},
	} {
		dir := evaluatetest.Folder(t, map[string]string{test.file: test.content})
		if _, _, _, err := FindSentences(t.Context(), dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}
