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

// A word is spelt once in each length, and each length has an unknown symbol of its own. A short word is one symbol.
func TestLengths(t *testing.T) {
	a, err := NewAlphabet([]string{"ab", "ab", "abc"}, SpellingOptions{Gram: []int{1, 3}, Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	// a, b, both marks and <ab are in three words, ab> in two.
	if want := []string{"a", "b", beginMark, beginMark + "ab", endMark, "ab" + endMark}; !slices.Equal(a.symbols, want) {
		t.Fatalf("symbols %q, want %q", a.symbols, want)
	}
	s := a.Spell([]string{"ab", "x", "abcde"}, 2)
	want := [][]uint32{
		{5, 3, 4, 7}, {6, 8},
		{5, unknown, 7}, {unknown + 1, padding},
		{5, 3, 4, 7}, {6, unknown + 1, unknown + 1, unknown + 1}, // cut
	}
	for i, w := range want {
		if got := s.Word(i); !slices.Equal(got, w) {
			t.Errorf("spelling %d is %v, want %v", i, got, w)
		}
	}
	if s.Truncated != 1 || s.Len() != len(want) {
		t.Errorf("%d spellings, %d words truncated; want %d and 1", s.Len(), s.Truncated, len(want))
	}
	if got := s.of([]uint32{2, 0}); got.Len() != 4 || !slices.Equal(got.Word(1), want[5]) || !slices.Equal(got.Word(2), want[0]) {
		t.Errorf("batch has %d spellings, %v and %v", got.Len(), got.Word(1), got.Word(2))
	}
}

// Symbols of a length with more than there are buckets are hashed, others are not.
func TestHashed(t *testing.T) {
	words := []string{"abcd", "bcde", "cdef", "abcd", "bcde", "cdef"}
	a, err := NewAlphabet(words, SpellingOptions{Gram: []int{1, 3}, Buckets: 8, Hashed: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.options.Hashed, []int{3}) {
		t.Fatalf("lengths %v are hashed", a.options.Hashed)
	}
	characters, buckets := 0, 0
	for _, symbol := range a.symbols {
		if strings.HasPrefix(symbol, endMark+"3:") {
			buckets++
		} else if len(symbol) == 1 {
			characters++
		}
	}
	if characters != 8 || buckets < 2 || buckets > 8 || characters+buckets != len(a.symbols) {
		t.Errorf("%d characters and %d buckets of %q", characters, buckets, a.symbols)
	}
	for i, symbols := range []([]uint32){a.Spell(words, 0).Word(0), a.Spell(words, 0).Word(1)} {
		if slices.Contains(symbols, unknown) || slices.Contains(symbols, unknown+1) {
			t.Errorf("spelling %d of a known word, %v, has unknown symbols", i, symbols)
		}
	}
	if _, err := (SpellingOptions{Hashed: []int{3}}).WithDefaults(); err == nil {
		t.Error("no error for hashed symbols without buckets")
	}
}
