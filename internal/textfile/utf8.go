package textfile

import "unicode/utf8"

// ValidUTF8 returns a text with U+FFFD in place of each byte that is not UTF-8. Words of texts, vectors and data sets are read
// like this, so that they agree.
func ValidUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
