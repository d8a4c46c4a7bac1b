package corpus

import (
	"fmt"
	"unicode/utf8"
)

// A Tokenizer is a rule that splits text into tokens.
type Tokenizer int

const (
	// Whitespace splits at Unicode white space, as strings.Fields does: for
	// text that is tokenized already.
	Whitespace Tokenizer = iota

	// Words takes runs of letters, marks and digits, with single apostrophes
	// inside them, and drops everything else: for raw text. The typographic
	// apostrophe U+2019 inside a word becomes an ASCII one.
	Words
)

var tokenizerNames = [...]string{Whitespace: "whitespace", Words: "words"}

func (t Tokenizer) known() bool { return t >= 0 && int(t) < len(tokenizerNames) }

// String returns the tokenizer's name: "whitespace" or "words".
func (t Tokenizer) String() string {
	if !t.known() {
		return fmt.Sprintf("Tokenizer(%d)", int(t))
	}
	return tokenizerNames[t]
}

// MarshalText returns the tokenizer's name.
func (t Tokenizer) MarshalText() ([]byte, error) {
	if !t.known() {
		return nil, fmt.Errorf("unknown tokenizer %d", int(t))
	}
	return []byte(tokenizerNames[t]), nil
}

// UnmarshalText sets the tokenizer by its name.
func (t *Tokenizer) UnmarshalText(text []byte) error {
	for i, name := range tokenizerNames {
		if string(text) == name {
			*t = Tokenizer(i)
			return nil
		}
	}
	return fmt.Errorf("unknown tokenizer %q: it is %q or %q", text, Whitespace, Words)
}

// inToken reports whether r is part of a token wherever it stands. In Words, an
// apostrophe may be, too.
func (t Tokenizer) inToken(r rune) bool {
	if t == Words {
		return isWordRune(r)
	}
	return !isSpace(r)
}

// asciiInToken is inToken for the ASCII bytes; it is false for the others.
var asciiInToken = func() (in [len(tokenizerNames)][256]bool) {
	for t := range in {
		for c := range utf8.RuneSelf {
			in[t][c] = Tokenizer(t).inToken(rune(c))
		}
	}
	return in
}()

// tokenEnd returns where the token that starts at text[start] ends. If the
// text may be cut off there, so that more of it could make the token longer,
// decided is false.
func (t Tokenizer) tokenEnd(text []byte, start int) (end int, decided bool) {
	inToken := &asciiInToken[t]
	for i := start; i < len(text); {
		if inToken[text[i]] {
			i++
			continue
		}
		r, size := decodeRune(text[i:])
		switch {
		case size == 0:
			return i, false
		case t.inToken(r):
			i += size
			continue
		case t == Words && isApostrophe(r) && i > start:
			next, nextSize := decodeRune(text[i+size:])
			if nextSize == 0 {
				return i, false
			}
			if isWordRune(next) {
				i += size + nextSize
				continue
			}
		}
		return i, true
	}
	return len(text), false
}

// lastBreak returns the length of the longest part of the text, from its
// start, that surely ends between tokens, whatever follows. The rest is the
// begin of one token, or empty. tokenLength is the length of that token so far,
// if it had to be looked at.
func (t Tokenizer) lastBreak(text []byte) (length, tokenLength int) {
	for i := len(text) - 1; i >= 0; i-- {
		if asciiSpace[text[i]] {
			return i + 1, 0
		}
	}
	// No ASCII white space in all of the text: look at every token.
	for i := 0; i < len(text); {
		r, size := decodeRune(text[i:])
		switch {
		case size == 0:
			return i, 0
		case t.inToken(r):
			end, decided := t.tokenEnd(text, i)
			if !decided {
				return i, end - i
			}
			i = end
		default:
			i += size
		}
	}
	return len(text), 0
}

// decodeRune is utf8.DecodeRune, but its size is 0 if the text may be cut off
// inside the rune. An invalid byte is U+FFFD of size 1.
func decodeRune(text []byte) (r rune, size int) {
	if len(text) > 0 && text[0] < utf8.RuneSelf {
		return rune(text[0]), 1
	}
	r, size = utf8.DecodeRune(text)
	if r == utf8.RuneError && !utf8.FullRune(text) {
		return r, 0
	}
	return r, size
}
