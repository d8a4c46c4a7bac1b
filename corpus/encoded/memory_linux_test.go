package encoded

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/container"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// readerBytes is the most memory that a reader of a file has at a time, of ids and of sentences:
// what is behind it, and as much that is mapped ahead.
const readerBytes = 2 * 2 * windowBytes

// writeText writes a file of so many sentences of 20 tokens each.
func writeText(t *testing.T, sentences int) string {
	path := filepath.Join(t.TempDir(), "text")
	err := Write(path, Source{
		Words: []string{"a", "b"}, Counts: []uint64{2, 1}, MaxSentence: 1000, Threads: 1,
		Fill: func(w *Writer) error {
			line := bytes.Repeat(binary.LittleEndian.AppendUint16(nil, 1), 20)
			for range sentences {
				if err := w.Add(line, []uint32{20}); err != nil {
					return err
				}
			}
			return nil
		},
		Finish: func(*Text, int64) (fingerprint uint64, stats [Stats]int64) { return 0, stats },
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// resident returns the bytes of a mapped file that this process has in memory.
func resident(t *testing.T, path string) (sum int) {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	here := false
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		line := lines.Text()
		if !strings.Contains(strings.Fields(line)[0], ":") { // the head of a mapping
			here = strings.HasSuffix(line, path)
		}
		var kilobytes int
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &kilobytes); err == nil && here {
			sum += kilobytes << 10
		}
	}
	return sum
}

// Who checks or seals a file on many threads has none of its pages in memory meanwhile.
func TestMemoryOfChecks(t *testing.T) {
	path := writeText(t, 1<<20) // 40 MB of ids, 4 MB of sentences
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.text.GiveBack()
	memory.Release(f.whole)
	_, body, _ := f.parts()
	pieces, most := 0, 0
	err = format.Check(f.content, body, 1, func(first int, part []byte) error {
		pieces++
		most = max(most, resident(t, path))
		return f.checkIDs(first, part)
	})
	if err != nil || most > mappedTogether {
		t.Errorf("up to %d bytes of the file are in memory while it is checked: %v", most, err)
	}
	if pieces < 100 {
		t.Errorf("%d pieces", pieces)
	}
	if tail, err := container.Tail(f.content, headerSize, int(body), 4); err != nil || !bytes.Equal(tail, f.whole[headerSize+body:]) {
		t.Errorf("other checksums: %v", err)
	}
	if got := resident(t, path); got > mappedTogether {
		t.Errorf("%d bytes of the file are in memory after its checksums were computed", got)
	}
}

// Whatever was read of a file or looked up in it, its pages do not stay in memory.
func TestMemoryOfFile(t *testing.T) {
	const sentences = 3 << 20 // 120 MB of ids, 12 MB of sentences
	path := writeText(t, sentences)
	for _, threads := range []int{1, 3} {
		f, err := Open(path, threads)
		if err != nil {
			t.Fatal(err)
		}
		text := f.Text()
		check := func(doing string, most int) {
			t.Helper()
			most += mappedTogether // words, and the bases beside sentences
			if got := resident(t, path); got > most {
				t.Errorf("%d threads: after %s, %d bytes of the file are in memory; want at most %d", threads, doing, got, most)
			}
		}
		check("opening", 0)
		for token := 0; token <= text.Tokens(); token += 9999 {
			text.FindStart(token)
		}
		check("finding sentences", mappedTogether)
		_ = text.LongestSentence()
		check("reading all starts", 2*mappedTogether)
		w := text.Window()
		sum := uint32(0)
		var buffer []uint32
		for s := range sentences {
			for _, id := range text.View(text.Start(s), text.Start(s+1), &buffer) {
				sum += id
			}
			if w.Sentences(s, s+1); s%(sentences/16) == 0 {
				check(fmt.Sprintf("reading %d sentences", s), readerBytes)
			}
		}
		w.Close()
		if sum != 20*sentences {
			t.Errorf("the sum of the ids is %d", sum)
		}
		check("reading all", mappedTogether)
		text.GiveBack()
		check("giving back", 0)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Readers that pass through one another's stretches leave nothing behind, either.
func TestMemoryOfReaders(t *testing.T) {
	const sentences = 1 << 20 // 40 MB of ids, 4 MB of sentences
	path := writeText(t, sentences)
	f, err := Open(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	text := f.Text()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	owner, thief := text.Window(), text.Window()
	sum := 0
	read := func(w *Window, s int) {
		var buffer []uint32
		sum += len(text.View(text.Start(s), text.Start(s+1), &buffer))
		w.Sentences(s, s+1)
	}
	for s := range sentences {
		read(owner, s)
		if s%5000 == 0 {
			for at, end := r.IntN(sentences), r.IntN(200); end > 0 && at < sentences; at, end = at+1, end-1 {
				read(thief, at)
			}
		}
		if s%(sentences/16) == 0 {
			if got := resident(t, path); got > 2*readerBytes+mappedTogether {
				t.Errorf("seed %d: after %d sentences, %d bytes of the file are in memory", seed, s, got)
			}
		}
	}
	owner.Close()
	thief.Close()
	if got := resident(t, path); got > 3*mappedTogether {
		t.Errorf("seed %d: after reading all, %d bytes of the file are in memory", seed, got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
