package corpus_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// TestProbe: another name, size, beginning or end is another text.
func TestProbe(t *testing.T) {
	write := func(dir, name string, data []byte) string {
		path := filepath.Join(t.TempDir(), dir)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := bytes.Repeat([]byte("one two three\n"), 20_000)
	first, last := bytes.Clone(text), bytes.Clone(text)
	first[0], last[len(last)-2] = 'x', 'x'
	want := corpus.Probe(write("a", "text", text))
	if got := corpus.Probe(write("b", "text", text)); got != want {
		t.Errorf("the same file elsewhere has %x, not %x", got, want)
	}
	for name, path := range map[string]string{
		"name": write("a", "other", text), "size": write("a", "text", text[:len(text)-14]), "beginning": write("a", "text", first), "end": write("a", "text", last),
	} {
		if got := corpus.Probe(path); got == want {
			t.Errorf("a text of another %s is the same", name)
		}
	}
	if got := corpus.Probe(filepath.Join(t.TempDir(), "none")); got != 0 {
		t.Errorf("no text has %x", got)
	}
}
