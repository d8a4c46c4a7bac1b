package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestVocabulary(t *testing.T) {
	v, err := NewVocabulary([]string{"the", "cat", "é"}, []uint64{5, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != 3 || v.Total() != 8 {
		t.Errorf("%d words, %d tokens", v.Len(), v.Total())
	}
	for id, word := range v.Words {
		if got, ok := v.ID(word); !ok || int(got) != id {
			t.Errorf("ID(%q) = %d, %v", word, got, ok)
		}
	}
	if id, ok := v.ID("dog"); ok {
		t.Errorf("unknown word has id %d", id)
	}
}

func TestNewVocabularyErrors(t *testing.T) {
	for _, test := range []struct {
		words   []string
		counts  []uint64
		message string
	}{
		{[]string{"a", "b"}, []uint64{1}, "2 words but 1 counts"},
		{[]string{"a", "b", "a"}, []uint64{3, 2, 1}, `word "a" has two ids, 0 and 2`},
	} {
		if _, err := NewVocabulary(test.words, test.counts); err == nil || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%q: error %v, want %q", test.words, err, test.message)
		}
	}
}

func TestVocabularyTSV(t *testing.T) {
	words := []string{"the", "don't", "naïve", `"quoted"`, "\u2028", strings.Repeat("long", 50_000)}
	counts := []uint64{1<<64 - 1, 12, 3, 3, 1, 0}
	v, err := NewVocabulary(words, counts)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := v.WriteTSV(&file); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(file.String(), "the\t18446744073709551615\ndon't\t12\n") {
		t.Errorf("file begins with %.60q", file.String())
	}
	for name, text := range map[string]string{
		"as written":          file.String(),
		"CR LF":               strings.ReplaceAll(file.String(), "\n", "\r\n"),
		"no line feed at end": strings.TrimSuffix(file.String(), "\n"),
	} {
		back, err := ReadVocabularyTSV(strings.NewReader(text), "vocab.tsv")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(back.Words, words) || !slices.Equal(back.Counts, counts) {
			t.Errorf("%s: read %d words, other than those written", name, back.Len())
		}
	}
}

func TestReadVocabularyTSVErrors(t *testing.T) {
	for _, test := range []struct{ name, text, message string }{
		{"empty", "", "V: the vocabulary file is empty"},
		{"no tab", "a\t1\nb 2\n", `V: line 2: no tab in "b 2"`},
		{"blank line", "a\t1\n\nb\t2\n", "V: line 2: no tab"},
		{"no word", "a\t1\n\t2\n", "V: line 2: no word before the tab"},
		{"no count", "a\t\n", `V: line 1: count "" of word "a" is not a whole number`},
		{"negative", "a\t-1\n", `V: line 1: count "-1"`},
		{"fraction", "a\t1.5\n", `V: line 1: count "1.5"`},
		{"too large", "a\t18446744073709551616\n", "V: line 1: count"},
		{"two tabs", "a\t1\t2\n", "V: line 1: count \"1\\t2\""},
		{"twice", "a\t1\nb\t2\na\t3\n", `V: line 3: word "a" is already in line 1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadVocabularyTSV(strings.NewReader(test.text), "V")
			if err == nil || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %v, want %q", err, test.message)
			}
		})
	}
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("a\t1\nb"), iotest.ErrReader(broken))
	if _, err := ReadVocabularyTSV(r, "V"); !errors.Is(err, broken) || !strings.Contains(err.Error(), "V: line 2") {
		t.Errorf("read error: %v", err)
	}
}

// Of many words all are written, in order.
func TestWriteManyWords(t *testing.T) {
	for _, count := range []int{1, 1 << 14, 1<<14 + 1, 100_000} {
		v := &Vocabulary{}
		var want strings.Builder
		for i := range count {
			v.Words, v.Counts = append(v.Words, fmt.Sprint("word", i)), append(v.Counts, uint64(count-i))
			fmt.Fprintf(&want, "word%d\t%d\n", i, count-i)
		}
		var file strings.Builder
		if err := v.WriteTSV(&file); err != nil || file.String() != want.String() {
			t.Errorf("%d words: %d bytes of %d, or others; %v", count, file.Len(), want.Len(), err)
		}
		v.Words[count-1] = "a\tb"
		if err := v.WriteTSV(io.Discard); err == nil || !strings.Contains(err.Error(), fmt.Sprint("word number ", count-1)) {
			t.Errorf("%d words, the last with a tab: error %v", count, err)
		}
	}
}

func TestWriteTSVErrors(t *testing.T) {
	for _, word := range []string{"", "a\tb", "a\nb", "a\r"} {
		v, err := NewVocabulary([]string{"x", word}, []uint64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := v.WriteTSV(io.Discard); err == nil || !strings.Contains(err.Error(), "word number 1") {
			t.Errorf("word %q: error %v", word, err)
		}
	}
	v, err := NewVocabulary([]string{"x"}, []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if err := v.WriteTSV(failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("failing writer: error %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func FuzzReadVocabularyTSV(f *testing.F) {
	f.Add("a\t1\nb\t2\n")
	f.Add("a\t1\r\n\xff\t00")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ReadVocabularyTSV(strings.NewReader(text), "V")
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := v.WriteTSV(&file); err != nil {
			return // a carriage return inside a word
		}
		back, err := ReadVocabularyTSV(&file, "V")
		if err != nil || !slices.Equal(back.Words, v.Words) || !slices.Equal(back.Counts, v.Counts) {
			t.Errorf("%q is not read again as it was written: %v", text, err)
		}
	})
}
