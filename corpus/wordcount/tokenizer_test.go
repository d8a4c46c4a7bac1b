package wordcount

import (
	"strings"
	"testing"
)

func TestTokenizerNames(t *testing.T) {
	for _, want := range []Tokenizer{Whitespace, Words} {
		got := Tokenizer(-1)
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%v is %v; error %v", want, got, err)
		}
	}
	bad := Tokenizer(9)
	if bad.String() != "Tokenizer(9)" {
		t.Errorf("unknown tokenizer is called %v", bad)
	}
	const message = `unknown tokenizer "word": it is "whitespace" or "words"`
	if err := bad.UnmarshalText([]byte("word")); err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("error %v, want %q", err, message)
	}
}

// The table of runes agrees with package unicode.
func TestRunes(t *testing.T) {
	for r := range rune(0x110000) {
		if got, want := isSpace(r), strings.TrimSpace(string(r)) == ""; got != want {
			t.Errorf("%U: isSpace %v", r, got)
		}
		if got, want := isWordRune(r), searchWordRune(r); got != want {
			t.Errorf("%U: isWordRune %v", r, got)
		}
		if got, want := string(toLower(r)), strings.ToLower(string(r)); got != want {
			t.Errorf("%U: lower case %q, want %q", r, got, want)
		}
	}
}
