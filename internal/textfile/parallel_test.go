package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/internal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func randomText(rng *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = "etaoin shrdlu\n"[rng.IntN(14)]
	}
	return text
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readFile(file []byte) ([]byte, error) {
	var stored atomic.Int64
	source := Source{Name: "FILE", Size: int64(len(file)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(file)), nil
	}}
	r, err := Open(source, &stored)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err == nil && stored.Load() != int64(len(file)) {
		err = fmt.Errorf("counted %d of %d bytes", stored.Load(), len(file))
	}
	return text, err
}

// TestOpenAll: files come in order with their errors, whatever is read ahead.
func TestOpenAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 12))
	folder := t.TempDir()
	var want []string
	for i := range 60 {
		text := randomText(rng, rng.IntN(3*aheadBlock)*rng.IntN(2))
		want = append(want, string(text))
		if i%3 == 1 {
			text = gzipped(t, text)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := Find(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{0, 1, 2, 7} {
		var stored atomic.Int64
		files := OpenAll(With(sources, "", threads), &stored)
		for i, text := range want {
			r, err := files.Next()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != text || r.Bytes != int64(len(text)) {
				t.Fatalf("%d threads, file %d: %d bytes, %v, want %d", threads, i, len(got), err, len(text))
			}
			r.Close()
			if i == 40 && threads == 7 {
				break
			}
		}
		if threads < 7 {
			if _, err := files.Next(); err != io.EOF {
				t.Errorf("after the last file: %v", err)
			}
		}
		files.Close()
	}
	if err := os.WriteFile(filepath.Join(folder, "002"), []byte("\x1f\x8bbad"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stored atomic.Int64
	files := OpenAll(With(sources, "", 4), &stored)
	defer files.Close()
	for i := range 3 {
		r, err := files.Next()
		if (err != nil) != (i == 2) || err != nil && !strings.Contains(err.Error(), "002: the gzip file is cut off") {
			t.Errorf("file %d: %v", i, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

// TestFields: records are read from files of all kinds.
func TestFields(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := []byte("{\"text\": \"the cat\\nsat\", \"id\": 1}\n{\"id\": 2}\n{\"text\": \"on the mat\"}\n")
	var table bytes.Buffer
	type row struct {
		Text string `parquet:"text"`
		N    int64  `parquet:"n"`
	}
	if err := parquet.Write(&table, []row{{"the cat\nsat", 1}, {"on the mat", 2}}); err != nil {
		t.Fatal(err)
	}
	read := func(path, field string) (string, int64, error) {
		sources, err := Find(path)
		if err != nil {
			t.Fatal(err)
		}
		var stored atomic.Int64
		r, err := Open(With(sources, field, 2)[0], &stored)
		if err != nil {
			return "", 0, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		return string(text), stored.Load(), err
	}
	for name, data := range map[string][]byte{
		"plain": lines, "gzip": gzipped(t, lines), "mark": append([]byte("\ufeff"), lines...), "parquet": table.Bytes(),
	} {
		text, stored, err := read(write(name, data), "text")
		if err != nil || text != "the cat\nsat\non the mat\n" || stored != int64(len(data)) {
			t.Errorf("%s: %q, %v; %d of %d bytes", name, text, err, stored, len(data))
		}
	}
	for _, tc := range []struct {
		name, data, field, want string
	}{
		{"text", "the cat", "text", "asks for JSON lines, CSV, TSV or parquet, and this file begins with \"the cat\""},
		{"line", "{}\n{bad", "text", "line: line 2: this is no JSON object"},
		{"column", table.String(), "body", "column: no record has this field: --field body: its columns are text, n"},
		{"twice", "text,a,text\nb,c,d\n", "text", "twice: --field text: the first line names this column twice"},
		{"none", table.String(), "", "none: byte 0: this is parquet, which cannot be read as text: name the column of the text with --field"},
		{"cut", table.String()[:table.Len()-3], "text", "the parquet file is cut off"},
	} {
		if _, _, err := read(write(tc.name, []byte(tc.data)), tc.field); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if text, _, err := read(write("empty", nil), "text"); text != "" || err != nil {
		t.Errorf("an empty file: %q, %v", text, err)
	}
	pipe := Source{Name: "PIPE", Size: -1, Field: "text", Open: func() (io.ReadCloser, error) { return io.NopCloser(&table), nil }}
	if _, err := Open(pipe, new(atomic.Int64)); err == nil || !strings.Contains(err.Error(), "PIPE: a parquet file is read from its end") {
		t.Errorf("a pipe: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w.EncodeAll([]byte("some words\nof text"), nil))
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	// A frame of 48 bytes may ask for a window of a quarter of it: one of 1 GB takes so long on a busy machine
	// that Go ends the worker.
	_, release := memory.NewGuard(512 << 20)
	f.Cleanup(release)
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := readFile(file); err != nil && !strings.Contains(err.Error(), "FILE") {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
