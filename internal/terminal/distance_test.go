package terminal

import "testing"

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
