package subword

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		word string
		n    int
		want string // the marks as < and >
	}{
		{"", 1, "< >"},
		{"ab", 1, "< a b >"},
		{"né", 1, "< n é >"},
		{"a\x80b", 1, "< a \uFFFD b >"},
		{"日本", 2, "<日 日本 本>"},
		{"abc", 3, "<ab abc bc>"},
		{"", 3, "<>"},
		{"a", 3, "<a>"},
	} {
		marks := strings.NewReplacer(beginMark, "<", endMark, ">")
		var got []string
		for _, gram := range split(test.word, test.n) {
			got = append(got, marks.Replace(gram))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("split(%q, %d) = %s, want %s", test.word, test.n, s, test.want)
		}
	}
}

func TestAlphabet(t *testing.T) {
	a, err := NewAlphabet([]string{"ab", "ba", "aaq", "b<", "c", "c"}, SpellingOptions{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	// Both marks are in six words, a and b in three, c in two, q and < in one.
	if want := []string{beginMark, endMark, "a", "b", "c"}; !slices.Equal(a.symbols, want) {
		t.Fatalf("symbols %q, want %q", a.symbols, want)
	}
	if a.Len() != 7 {
		t.Errorf("length %d, want 7", a.Len())
	}
	s := a.Spell([]string{"", "abc", "abcabc", "q<", "éa"}, 4)
	want := [][]uint32{
		{2, 3, padding, padding},
		{2, 4, 5, 6, 3},
		{2, 4, 5, 6, 3}, // cut
		{2, unknown, unknown, 3},
		{2, unknown, 4, 3},
	}
	for i, w := range want {
		if got := s.Word(i); !slices.Equal(got, w) {
			t.Errorf("word %d is %v, want %v", i, got, w)
		}
	}
	if s.Truncated != 1 || s.Len() != len(want) {
		t.Errorf("%d words, %d truncated; want %d and 1", s.Len(), s.Truncated, len(want))
	}
}
