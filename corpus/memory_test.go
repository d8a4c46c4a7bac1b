package corpus

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
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

// TestMemoryOfThreads: however many threads read, what they hold stays within the limit.
func TestMemoryOfThreads(t *testing.T) {
	const limit = 32 << 20
	number, chunks := 0, 0
	text := io.LimitReader(&endless{next: func() string { number++; return fmt.Sprintf("%d ", number*7919%4e6) }}, 5<<20) // each thread has several chunks
	live := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before, most := live(), int64(0)
	options := Options{Threads: 64, MaxWords: 1000, chunkSize: 32 << 10, Progress: func(int64, int64) {
		if chunks++; chunks%20 == 0 {
			most = max(most, live()-before)
		}
	}}
	c, err := OpenFrom(t.Context(), text, "text", options,
		Storage{File: filepath.Join(t.TempDir(), "text"), Always: true, Memory: limit})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if most > limit {
		t.Errorf("64 threads hold %d bytes while they read; want at most %d", most, limit)
	}
}

// TestMemory: a text that fills the memory ends with an error, not with the process.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a million words")
	}
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
		_, err := OpenFrom(t.Context(), &endless{next: next}, "endless", Options{Threads: 2}, Storage{})
		release()
		if !errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "different words") || !strings.Contains(err.Error(), "--max-memory allows") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
