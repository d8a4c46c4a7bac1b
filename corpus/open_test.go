package corpus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/corpus/wordcount"
	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// loaded returns a copy of a corpus in memory.
func loaded(c *Corpus) *Corpus {
	text := c.Text()
	all := &Corpus{Vocabulary: c.Vocabulary, Stats: c.Stats, Tokens: make([]uint32, text.Tokens())}
	text.Copy(all.Tokens, 0)
	text.EachStart(func(starts []int) { all.Sentences = append(all.Sentences, starts...) })
	return all
}

// checkFile reads the files with no memory at all, so that every table and all codes go to
// the disk, and compares.
func checkFile(t *testing.T, files [][]byte, o Options, want *Corpus, wantErr error) {
	t.Helper()
	dir := t.TempDir()
	for _, chunkSize := range []int{1, 40} {
		for _, threads := range []int{1, 3} {
			o.Threads, o.chunkSize = threads, chunkSize
			got, err := open(context.Background(), joined(files), o, Storage{File: filepath.Join(dir, "text"), Memory: 1, Remove: true})
			if wantErr != nil || err != nil {
				if !errors.Is(err, wantErr) {
					t.Fatalf("in a file: %+v: files %q: error %v, want %v", o, files, err, wantErr)
				}
				continue
			}
			if path, size, _ := got.File(); path == "" || size == 0 {
				t.Fatal("the text is in memory")
			}
			if d := difference(loaded(got), want); d != "" {
				t.Fatalf("in a file: %+v: files %.2000q: %s", o, files, d)
			}
			if got.Fingerprint() != want.Fingerprint() || got.Text().Check(got.Vocabulary.Len()) != nil {
				t.Fatalf("fingerprint %x, want %x", got.Fingerprint(), want.Fingerprint())
			}
			if err := got.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Fatalf("left in the folder: %v, %v", entries, err)
	}
}

// A file is used again while text and options are the same, and made anew otherwise.
func TestOpenAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text")
	writeFile(t, path, strings.Repeat("the cat sat\non the mat\n", 100))
	storage := Storage{File: filepath.Join(dir, "encoded"), Always: true}
	read := 0
	open := func(o Options) *Corpus {
		t.Helper()
		read = 0
		o.Progress = func(int64, int64) { read++ }
		c, err := Open(t.Context(), path, o, storage)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	first := open(Options{})
	if read == 0 {
		t.Error("a file of nothing")
	}
	if again := open(Options{Threads: 3}); read > 0 || difference(loaded(again), loaded(first)) != "" {
		t.Errorf("read %d times, or another corpus", read)
	}
	if open(Options{MinCount: 150}); read == 0 {
		t.Error("another minimum count is not noticed")
	}
	writeFile(t, path, strings.Repeat("the dog sat\non the mat\n", 100))
	if c := open(Options{MinCount: 150}); read == 0 || c.Stats.TokensUsed != first.Stats.TokensUsed/3 {
		t.Error("another text is not noticed")
	}
	if c := open(Options{MinCount: 150}); read > 0 || c.Stats.TokensUsed != first.Stats.TokensUsed/3 {
		t.Error("the same text is read again")
	}
}

// Small texts stay in memory unless a file is asked for.
func TestOpenSmall(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text")
	writeFile(t, path, "the cat sat on the mat")
	c, err := Open(t.Context(), path, Options{}, Storage{File: filepath.Join(dir, "encoded")})
	if err != nil {
		t.Fatal(err)
	}
	if name, _, _ := c.File(); name != "" || len(c.Tokens) != 6 {
		t.Errorf("the text is in %s", name)
	}
	c, err = OpenFrom(t.Context(), strings.NewReader("the cat sat"), "a pipe", Options{}, Storage{File: filepath.Join(dir, "encoded")})
	if err != nil || len(c.Tokens) != 3 {
		t.Errorf("a pipe: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// A text that changes while it is read is refused, and leaves nothing.
func TestOpenChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text")
	writeFile(t, path, strings.Repeat("the cat sat\n", 1000))
	o := Options{Progress: func(done, total int64) { writeFile(t, path, strings.Repeat("the dog sat\n", 2000)) }}
	if _, err := Open(t.Context(), path, o, Storage{File: filepath.Join(dir, "encoded"), Always: true}); err == nil || !strings.Contains(err.Error(), path+": the text changed while it was read") {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// Every option that changes the encoded text changes its key.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	writeFile(t, path, "the cat sat")
	in, err := wordcount.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	id, err := identify(in)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[uint64]string{id.key(&Options{}): "none"}
	for field, value := range reflect.ValueOf(&Options{}).Elem().Fields() {
		if !field.IsExported() || field.Name == "Threads" || field.Name == "Progress" {
			continue
		}
		var o Options
		changed := reflect.ValueOf(&o).Elem().FieldByIndex(field.Index)
		switch value.Kind() {
		case reflect.Bool:
			changed.SetBool(true)
		case reflect.Int:
			changed.SetInt(1)
		case reflect.String:
			changed.SetString("x")
		case reflect.Pointer:
			changed.Set(reflect.ValueOf(&Vocabulary{Words: []string{"a"}, Counts: []uint64{1}}))
		default:
			t.Errorf("the test does not know how to change %s", field.Name)
		}
		if other, ok := keys[id.key(&o)]; ok {
			t.Errorf("the key of %s is that of %s", field.Name, other)
		}
		keys[id.key(&o)] = field.Name
	}
}

// encodedFile returns the bytes of the file of a random text.
func encodedFile(t testing.TB, r *rand.Rand, types int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encoded")
	var text strings.Builder
	for range 300 {
		fmt.Fprintf(&text, "w%d", r.IntN(types))
		text.WriteByte(" \n"[r.IntN(2)])
	}
	c, err := OpenFrom(t.Context(), strings.NewReader(text.String()), "text", Options{}, Storage{File: path, Always: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// opened reads the bytes of a file.
func opened(t testing.TB, path string, data []byte) (*Corpus, error) {
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := OpenFile(path, 2)
	if err != nil {
		return nil, err
	}
	all := loaded(c)
	return all, c.Close()
}

// Damaged and cut files are refused.
func TestDamagedFile(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	path := filepath.Join(t.TempDir(), "copy")
	data := encodedFile(t, r, 50)
	testfiles.Copies(t, data, func(file []byte) (*Corpus, error) { return opened(t, path, file) })
	for _, cut := range []int{0, 7, 100, 255, 256, len(data) / 2, len(data) - 1} {
		_, err := opened(t, path, data[:cut])
		if !errors.Is(err, encoded.ErrTruncated) && !errors.Is(err, encoded.ErrNotText) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	text := filepath.Join(filepath.Dir(path), "text")
	writeFile(t, text, "the cat sat")
	writeFile(t, path, string(data[:len(data)-1]))
	if _, err := Open(t.Context(), text, Options{}, Storage{File: path}); !errors.Is(err, encoded.ErrTruncated) || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a truncated file: %v", err)
	}
}

// FuzzFile: a file with any bytes is refused, or holds a text that kernels can train on.
func FuzzFile(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, types := range []int{3, 200} {
		f.Add(encodedFile(f, r, types), uint32(0), byte(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value byte) {
		data = slices.Clone(data)
		if len(data) > 256 {
			data[256+int(at)%(len(data)-256)] = value
			encoded.Reseal(data)
		}
		c, err := opened(t, filepath.Join(t.TempDir(), "file"), data)
		if err != nil {
			return
		}
		if err := c.Text().Check(c.Vocabulary.Len()); err != nil {
			t.Error(err)
		}
	})
}

// Reading that is cancelled, before or while the file is written, leaves nothing.
func TestOpenCancelled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text")
	writeFile(t, path, strings.Repeat("the cat sat\n", 10_000))
	for _, when := range []string{"reading", "writing"} {
		ctx, cancel := context.WithCancel(t.Context())
		o, s := Options{chunkSize: 100}, Storage{File: filepath.Join(dir, "encoded"), Always: true, Memory: 1}
		if when == "reading" {
			o.Progress = func(done, total int64) { cancel() }
		} else {
			s.Writing = func(done, total int64) { cancel() }
		}
		if _, err := Open(ctx, path, o, s); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", when, err)
		}
		cancel()
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%s: the folder holds %v", when, entries)
		}
	}
}
