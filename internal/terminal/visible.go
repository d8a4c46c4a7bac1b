package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible returns a text of somebody else with the characters escaped that a terminal acts upon, that
// change the direction of what follows, or that XML does not have: \u001b for an escape. A JSON text
// stays the same value. Tabs and line feeds stay, because tables and messages have them.
func Visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// VisibleLine is Visible for a text that is a part of a line: a tab or line feed is a space.
func VisibleLine(text string) string {
	return Visible(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(text))
}

func hidden(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case unicode.Is(unicode.Cc, r), r == 0xFFFE, r == 0xFFFF:
		return true
	default:
		return unicode.Is(unicode.Bidi_Control, r) && r != 0x200E && r != 0x200F && r != 0x061C // marks, which are parts of words
	}
}
