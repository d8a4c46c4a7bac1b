package wordcount

import (
	"fmt"
	"unicode/utf8"
)

// A Tokenizer is a rule that splits text into tokens.
type Tokenizer int

const (
	// Whitespace splits at Unicode white space, as strings.Fields does. It suits
	// text that is tokenized already.
	Whitespace Tokenizer = iota

	// Words keeps runs of letters, marks and digits, with single apostrophes inside
	// them, and drops everything else. It suits raw text. The typographic apostrophe
	// U+2019 inside a word becomes an ASCII one.
	Words
)

var tokenizerNames = [...]string{Whitespace: "whitespace", Words: "words"}

// Known reports whether t is a tokenizer.
func (t Tokenizer) Known() bool { return t >= 0 && int(t) < len(tokenizerNames) }

// String returns the tokenizer's name: "whitespace" or "words".
func (t Tokenizer) String() string {
	if !t.Known() {
		return fmt.Sprintf("Tokenizer(%d)", int(t))
	}
	return tokenizerNames[t]
}

// UnmarshalText sets the tokenizer by its name. An unknown name is an error.
func (t *Tokenizer) UnmarshalText(text []byte) error {
	for i, name := range tokenizerNames {
		if string(text) == name {
			*t = Tokenizer(i)
			return nil
		}
	}
	return fmt.Errorf("unknown tokenizer %q: it is %q or %q", text, Whitespace, Words)
}

// inToken reports whether r is part of a token wherever it stands. With Words, an
// apostrophe is part of a token at some places, and inToken is false.
func (t Tokenizer) inToken(r rune) bool {
	if t == Words {
		return isWordRune(r)
	}
	return !isSpace(r)
}

// asciiInToken is inToken for ASCII bytes, and false for all others.
var asciiInToken = func() (in [len(tokenizerNames)][256]bool) {
	for t := range in {
		for c := range utf8.RuneSelf {
			in[t][c] = Tokenizer(t).inToken(rune(c))
		}
	}
	return in
}()

// tokenEnd returns the end of the token that starts at text[start]. decided is
// false if more text could make the token longer.
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

// lastBreak returns the length of the longest prefix of the text that ends between
// tokens, whatever follows the text. The rest is the start of one token, or empty.
// tokenLength is the length of that start if lastBreak had to measure it, or 0.
func (t Tokenizer) lastBreak(text []byte) (length, tokenLength int) {
	for i := len(text) - 1; i >= 0; i-- {
		if asciiSpace[text[i]] {
			return i + 1, 0
		}
	}
	// The text has no ASCII white space: look at every token.
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

// decodeRune is utf8.DecodeRune with one difference: size is 0 if the text ends
// inside a rune. An invalid byte is U+FFFD of size 1.
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
