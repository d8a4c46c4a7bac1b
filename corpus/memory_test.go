package corpus

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// An endless text is read as what next returns, again and again.
type endless struct {
	next func() string
	left string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == "" {
		e.left = e.next()
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// TestMemory: a text that fills the memory ends with an error, not with the process.
func TestMemory(t *testing.T) {
	number := 0
	newWords := func(format string) func() string {
		return func() string {
			number++
			return fmt.Sprintf(format, number)
		}
	}
	for name, next := range map[string]func() string{
		"short words": newWords("%d "),
		"long words":  newWords("a word of more than sixteen bytes,%d\n"),
		"very long":   newWords(strings.Repeat("x", 30_000) + "%d "),
		"one word":    func() string { return "a a a a a a a a a a a a a a a a\n" },
		"lines":       func() string { return "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" },
	} {
		debug.FreeOSMemory()
		_, release := memory.NewGuard(machine.Resident() + 48<<20)
		_, err := ReadFrom(t.Context(), &endless{next: next}, "endless", Options{Threads: 2})
		release()
		if !errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "different words") || !strings.Contains(err.Error(), "--max-memory allows") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
