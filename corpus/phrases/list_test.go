package phrases

import (
	"io"
	"strings"
	"testing"
)

// TestLongLine: a list that could not be read again is not written.
func TestLongLine(t *testing.T) {
	l := List{Delimiter: "_", Common: []string{strings.Repeat("x", 1<<20)}}
	if err := l.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "common words") {
		t.Errorf("%v", err)
	}
}
