package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

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

// TestMemoryOfZstd: a window, which a file may say is large, takes no more memory than
// there is.
func TestMemoryOfZstd(t *testing.T) {
	var file bytes.Buffer
	z, err := zstd.NewWriter(&file, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("a b ", 1<<18)
	for range 8 {
		io.WriteString(z, line)
	}
	z.Flush()
	for range 72 { // more than a window
		io.WriteString(z, line)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	_, release := memory.NewGuard(machine.Resident() + 64<<20)
	_, err = ReadFrom(t.Context(), bytes.NewReader(file.Bytes()), "text.zst", Options{Threads: 1})
	release()
	if err == nil || errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "without --long") { // fewer words would not help
		t.Error(err)
	}
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
		_, err := ReadFrom(t.Context(), &endless{next: next}, "endless", Options{Threads: 2})
		release()
		if !errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "different words") || !strings.Contains(err.Error(), "--max-memory allows") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
