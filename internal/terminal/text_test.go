package terminal

import (
	"encoding/json"
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

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"naïve 日本\t👩‍💻\n":      "naïve 日本\t👩‍💻\n",
		"a\x1b[31mb":           `a\u001b[31mb`,
		"\x01\x7f\u009b\r":     `\u0001\u007f\u009b\u000d`,
		"\uFFFE\uFFFF\uFFFD":   `\ufffe\uffff` + "\uFFFD",
		"a\u202Eb\u2066\u200E": `a\u202eb\u2066` + "\u200E",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(Visible(string(encoded))), &back); err != nil || back != text {
			t.Errorf("%q as JSON: %q, %v", text, back, err)
		}
	}
	if got := VisibleLine("a\r\nb\tc\x1b"); got != `a b c\u001b` {
		t.Errorf("%q", got)
	}
}
