// Package terminal serves the person at the command line: it writes numbers in a
// short form, catches signals, measures distances for "did you mean" and marks errors
// of usage.
package terminal

import (
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Wrap breaks the lines of a text so that they have up to width letters, at spaces and
// never between a number and its unit. What goes on is two letters further in. A word that
// is longer than a line stays whole.
func Wrap(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		if utf8.RuneCountInString(body) <= width {
			b.WriteString(line)
			continue
		}
		indent := body[:len(body)-len(strings.TrimLeft(body, " "))]
		b.WriteString(indent)
		used, first := len(indent), true
		for _, piece := range pieces(body[len(indent):]) {
			word := strings.TrimRight(piece, " ")
			switch n := utf8.RuneCountInString(word); {
			case first || used+n <= width:
			default:
				b.WriteString("\n" + indent + "  ")
				used = len(indent) + 2
			}
			first = false
			b.WriteString(piece)
			used += utf8.RuneCountInString(piece)
		}
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// pieces cuts a line behind its spaces, but not behind a number, which takes its unit with
// it.
func pieces(line string) []string {
	var all []string
	held := ""
	for _, word := range strings.SplitAfter(line, " ") {
		held += word
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, "(~"))
		if last := strings.TrimRight(word, " "); unicode.IsDigit(first) && !strings.ContainsAny(last, ";:)%") && !strings.HasSuffix(last, ",") || word == " " {
			continue
		}
		all, held = append(all, held), ""
	}
	if held != "" {
		all = append(all, held)
	}
	return all
}

// Width returns the letters of a line of a terminal; 80 if it does not tell.
func Width(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

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
