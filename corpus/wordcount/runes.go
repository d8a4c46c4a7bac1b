package wordcount

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// asciiSpace is true for the ASCII bytes of Unicode's white space.
var asciiSpace = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// isSpace is unicode.IsSpace, which is slower for most letters.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiSpace[r]
	}
	// The other spaces are U+0085, U+00A0, U+1680, and some from U+2000 to U+3000.
	return (r <= '\u00a0' || r == '\u1680' || '\u2000' <= r && r <= '\u3000') && unicode.IsSpace(r)
}

// isWordRune reports whether r is a letter, a mark (such as the vowel signs of
// many scripts) or a number.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	if r < basicRunes {
		basic.once.Do(basic.fill)
		return basic.word[r/64]>>(r%64)&1 != 0
	}
	return searchWordRune(r)
}

// toLower is unicode.ToLower.
func toLower(r rune) rune {
	if r < basicRunes {
		basic.once.Do(basic.fill)
		return rune(basic.lower[r])
	}
	return unicode.ToLower(r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == typographicApostrophe }

const typographicApostrophe = '\u2019'

// basicRunes is the number of runes of Unicode's basic multilingual plane.
const basicRunes = 1 << 16

// basic is a table for the basic plane, where package unicode has to search. Its
// first use fills it in a few milliseconds.
var basic runeTable

type runeTable struct {
	once  sync.Once
	word  [basicRunes / 64]uint64 // one bit a rune
	lower [basicRunes]uint16
}

func (t *runeTable) fill() {
	for r := range rune(basicRunes) {
		if searchWordRune(r) {
			t.word[r/64] |= 1 << (r % 64)
		}
		t.lower[r] = uint16(unicode.ToLower(r)) // the result is in the basic plane, too
	}
}

func searchWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}
