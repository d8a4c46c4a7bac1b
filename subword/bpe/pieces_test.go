package bpe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Words are split by a list of merges, by a vocabulary of SentencePiece, and by a plain
// list.
func TestPieces(t *testing.T) {
	for name, test := range map[string]struct {
		file  string
		words map[string][]string
	}{
		"merges": {"#version: 0.2\nt h\nth e</w>\ne r\ni n\n\nin g</w>\n", map[string][]string{
			"the": {"the</w>"}, "there": {"th", "er", "e</w>"}, "thing": {"th", "ing</w>"}, "": nil, "ü": {"ü</w>"}, "in": {"i", "n</w>"},
		}},
		"vocabulary": {"▁t\t-0\nhe\t-1\n▁the\t-2\n▁\t-3\nt\t-4\nh\t-5\ne\t-6\nre\t-7\n", map[string][]string{
			"the": {"▁the"}, "there": {"▁the", "re"}, "he": {"▁", "he"}, "hü": {"▁", "h", "ü"},
		}},
		"plain": {"ab 7\nc\nabc\nab\na\nb", map[string][]string{"abcab": {"abc", "ab"}, "cc": {"c", "c"}, "ba": {"b", "a"}}},
	} {
		list, err := readList(strings.NewReader(test.file))
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(list)
		if err != nil {
			t.Fatal(err)
		}
		for word, want := range test.words {
			if got := p.Split(word); !slices.Equal(got, want) {
				t.Errorf("%s: %q is split into %q, want %q", name, word, got, want)
			}
			for i, part := range want {
				if rank, ok := p.Rank(part); ok != slices.Contains(list, part) || ok && list[rank] != part {
					t.Errorf("%s: part %d of %q, %q, has rank %d, %v", name, i, word, part, rank, ok)
				}
			}
		}
		if p.Len() != len(list) || p.String() != strings.Join(list, "\n") {
			t.Errorf("%s: %d pieces %q, want %q", name, p.Len(), p, list)
		}
	}
	for _, file := range []string{"", "#version: 0.2\n", "a b c\n"} {
		path := filepath.Join(t.TempDir(), "pieces")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v", file, err)
		}
	}
	if _, err := New([]string{"a", "a"}); err == nil {
		t.Error("no error for a piece that is there twice")
	}
}
