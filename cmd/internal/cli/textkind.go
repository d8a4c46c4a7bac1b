package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/embedding"
)

// TextKind is a text. It has no mark of its own: what is plainly something else is refused.
var TextKind = HeadKind("a text", IsText)

// IsText reports whether the beginning of a file may be that of a text in UTF-8: it has no
// NUL, and is neither vectors nor one of the formats that begin with a sign of theirs.
func IsText(head string) bool {
	cut := len(head)
	for n := 0; n < utf8.UTFMax && cut > 0 && !utf8.RuneStart(head[cut-1]); n++ {
		cut--
	}
	if strings.ContainsRune(head, 0) || !utf8.ValidString(head[:max(cut-1, 0)]) {
		return false
	}
	for _, start := range []string{
		"{", "[", "<!DOCTYPE", "<html", "<svg", "<?xml", "digraph", "#!",
		"unit,seconds,loss,", "# phrases of w2vcl\n", "# node node edge\n",
	} {
		if strings.HasPrefix(head, start) {
			return false
		}
	}
	// Walks over nodes with numbers for names look like vectors of whole numbers.
	return !strings.Contains(head, ".") || !embedding.IsVectors([]byte(head))
}
