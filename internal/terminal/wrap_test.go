package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
	}{
		{"short\n", 20, "short\n"},
		{"", 20, ""},
		{"built in 6.4 s", 13, "built in \n  6.4 s"},
		{"  work    512 iterations, 6,964 words\nnext\n", 26, "  work    512 iterations, \n    6,964 words\nnext\n"},
		{"one 8% two", 7, "one 8% \n  two"},
		{"unbreakable-as-it-is so", 5, "unbreakable-as-it-is \n  so"},
		{"±µ− ±µ−", 3, "±µ− \n  ±µ−"},
	} {
		if got := Wrap(test.text, test.width); got != test.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

// TestWrapKeepsWords: whatever the text and the width, the words stay, and lines are short
// enough unless a piece is longer.
func TestWrapKeepsWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var words []string
		for range random.IntN(20) {
			words = append(words, []string{"12", "s", "of", "words,", "3.4k", "(5", "training", "", "µ"}[random.IntN(9)])
		}
		text, width := strings.Join(words, " "), random.IntN(40)
		got := Wrap(text, width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
			t.Fatalf("Wrap(%q, %d) = %q", text, width, got)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimRight(line, " \n")
			if utf8.RuneCountInString(line) > width && len(pieces(strings.TrimLeft(line, " "))) > 1 && len(pieces(text)) > 1 {
				t.Errorf("a line of %d letters in %d: %q", utf8.RuneCountInString(line), width, line)
			}
		}
	}
}
