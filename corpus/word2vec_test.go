package corpus

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestWord2VecVocabulary(t *testing.T) {
	v := &Vocabulary{Words: []string{"the", "of", "мир", "a,b"}, Counts: []uint64{9, 5, 5, 1}}
	var file bytes.Buffer
	if err := v.WriteWord2Vec(&file, 7); err != nil || file.String() != "</s> 7\nthe 9\nof 5\nмир 5\na,b 1\n" {
		t.Fatalf("%v, %q", err, file.String())
	}
	// Other orders, tabs, CR LF and files without the end of sentences are read, too.
	for _, text := range []string{file.String(), "мир 5\r\nthe\t9\r\na,b 1\r\nof 5", strings.TrimPrefix(file.String(), "</s> 7\n")} {
		back, err := ReadWord2VecVocabulary(strings.NewReader(text), "V")
		if err != nil || !slices.Equal(back.Words, v.Words) || !slices.Equal(back.Counts, v.Counts) {
			t.Errorf("%q: %v, %+v", text, err, back)
		}
	}
	if f := v.Frequent(5, 2); !slices.Equal(f.Words, []string{"the", "of"}) || !slices.Equal(f.Counts, []uint64{9, 5}) {
		t.Errorf("frequent words: %+v", f)
	}
	for text, want := range map[string]string{
		"":                "V: the vocabulary file has no words",
		"</s> 5\n":        "V: the vocabulary file has no words",
		"a 1\nb\n":        `V: line 2: "b" is not a word`,
		"a 1\nb x\n":      `V: line 2: count "x" of word "b"`,
		"a -1\n":          `V: line 1: count "-1"`,
		"a 1\nb 2\na 3\n": `V: word "a" occurs twice`,
		"a\x00 1\n":       "V: line 1: ",
		"\xff 1\n":        "V: line 1: ",
	} {
		if _, err := ReadWord2VecVocabulary(strings.NewReader(text), "V"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := (&Vocabulary{Words: []string{"a b"}, Counts: []uint64{1}}).WriteWord2Vec(&file, 1); err == nil {
		t.Error("a word with a space is written")
	}
}

func FuzzReadWord2VecVocabulary(f *testing.F) {
	f.Add("</s> 1\na 1\nb 2\n")
	f.Add("a\t1\r\n\xff 00")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ReadWord2VecVocabulary(strings.NewReader(text), "V")
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := v.WriteWord2Vec(&file, 3); err != nil {
			t.Fatal(err)
		}
		back, err := ReadWord2VecVocabulary(&file, "V")
		if err != nil || !slices.Equal(back.Words, v.Words) || !slices.Equal(back.Counts, v.Counts) {
			t.Errorf("%q is not read again as it was written: %v", text, err)
		}
	})
}
