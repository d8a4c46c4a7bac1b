package terminal

import (
	"slices"
	"testing"
)

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"window", "windw", 1},
		{"kitten", "sitting", 3}, {"é", "e", 1}, {"appel", "apple", 1}, {"kign", "king", 1}, {"ca", "abc", 3}, {"presidnet", "president", 1}, {"abc", "abc", 0},
	} {
		if got := EditDistance(test.a, test.b); got != test.want {
			t.Errorf("%q %q: %d, want %d", test.a, test.b, got, test.want)
		}
		if got := EditDistance(test.b, test.a); got != test.want {
			t.Errorf("%q %q: %d, want %d", test.b, test.a, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"window", "words", "dim", "minutes"}
	for name, want := range map[string]string{
		"windw": "window", "word": "words", "dmi": "dim", "window": "window", "minuets": "minutes",
		"wodow": "window", "learning": "", "": "",
	} {
		if got := Nearest(name, slices.Values(known)); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("dib", slices.Values([]string{"dix", "dim"})); got != "dix" {
		t.Errorf("of two names as near: %q, want the first", got)
	}
}
