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
