package embedding

import (
	"bufio"
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// loadBytes loads a file with this content and with words beside it.
func loadBytes(content []byte, words []string) (*Table, error) {
	in := newInput(bytes.NewReader(content), int64(len(content)))
	format, err := detect(in.Reader)
	if err != nil {
		return nil, err
	}
	return read(in, format, func() ([]string, error) {
		if words == nil {
			return nil, errors.New("no words")
		}
		return words, nil
	})
}

// saveBytes returns the content of the file of vectors that Save writes.
func saveBytes(t testing.TB, table *Table, f Format) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if err := Save(path, table, f); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestSmallBinary checks that Load tells text from binary. Both begin with the same
// line, and small files differ in few bytes.
func TestSmallBinary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		words, dim := 1+random.IntN(3), 1+random.IntN(3)
		table := &Table{Words: []string{"the", "of", "and"}[:words], Dim: dim, Vectors: make([]float32, words*dim)}
		for i := range table.Vectors {
			table.Vectors[i] = float32(random.NormFloat64() * 0.3)
		}
		for _, f := range []func(*bytes.Buffer) error{
			func(w *bytes.Buffer) error { return table.rows().WriteBinary(w, 1) },
			func(w *bytes.Buffer) error { return writeText(w, table, true) },
			func(w *bytes.Buffer) error { return writeText(w, table, false) },
		} {
			var w bytes.Buffer
			if err := f(&w); err != nil {
				t.Fatal(err)
			}
			got, err := loadBytes(w.Bytes(), nil)
			if err != nil {
				t.Fatalf("%q: %v", w.Bytes(), err)
			}
			for i, v := range table.Vectors {
				if len(got.Vectors) != len(table.Vectors) || got.Vectors[i] != v {
					t.Fatalf("%q: got %v, want %v", w.Bytes(), got.Vectors, table.Vectors)
				}
			}
		}
	}
}

// FuzzLoad checks that no content makes Load panic or allocate more than a multiple
// of the content's length, and that every loaded table can be saved and loaded.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	models, err := filepath.Glob("fasttext/testdata/*.bin")
	if err != nil || len(models) == 0 {
		f.Fatal("no fastText models", err)
	}
	for _, file := range append(files, models...) {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	for _, content := range []string{
		"9000000000000000000 1000000\na ", "1000000 1000000\na 1", "1 1\na \x00\x00\x80?", "0.5\t1\n", "a 1\n  2\n",
		npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 1000000), }", "1234"),
		safetensorsFile(`{"vectors":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"words":{"dtype":"U8","shape":[9000000000000000000],"data_offsets":[4,9000000000000000004]}}`, "1234a"),
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table, err := loadBytes(content, []string{"a", "b"})
		runtime.ReadMemStats(&after)
		// The buffer takes 1 MiB, and isBinary, which reads small files twice, another.
		const fixed, multiple = 4 << 20, 300
		if used := after.TotalAlloc - before.TotalAlloc; used > fixed+multiple*uint64(len(content)) {
			t.Errorf("%d bytes allocated for a file of %d", used, len(content))
		}
		if err != nil {
			return
		}
		if _, err := NewTable(table.Words, table.Dim, table.Vectors); err != nil {
			t.Errorf("NewTable refuses a loaded table: %v", err)
		}
		for _, format := range Formats() {
			if check(table, format) != nil {
				continue
			}
			var file bytes.Buffer
			if err := writeAs(&file, table, format); err != nil {
				if format == Word2VecBinary && file.Len() == 0 { // it would look like another format
					continue
				}
				t.Fatalf("as %s: %v", format, err)
			}
			again, err := loadBytes(file.Bytes(), table.Words)
			if err != nil {
				t.Fatalf("written as %s: %v", format, err)
			}
			requireEqual(t, again, table)
		}
	})
}

// FuzzWords reads the words beside a matrix.
func FuzzWords(f *testing.F) {
	f.Add("a\nb\r\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, content string) {
		words, err := readWords(bufio.NewReader(strings.NewReader(content)))
		for _, word := range words {
			if err == nil && (word == "" || strings.Contains(word, "\n")) {
				t.Errorf("word %q", word)
			}
		}
	})
}

// TestDamaged: a file of vectors with flipped bits is refused as far as its format can
// tell. Our safetensors files have checksums. In the others each value may be any
// number, and each word any word, but what is read is a table, and never longer than
// the file.
func TestDamaged(t *testing.T) {
	table := randomTable(t, 60, 12)
	testfiles.Copies(t, saveBytes(t, table, Safetensors), func(file []byte) (content, error) {
		read, err := loadBytes(file, nil)
		if err != nil {
			return content{}, err
		}
		return content{read.Words, read.Dim, read.Vectors}, nil
	})
	for _, format := range []Format{Word2VecBinary, Word2VecText, GloVe} {
		whole := saveBytes(t, table, format)
		testfiles.Copies(t, whole, func(file []byte) (bool, error) {
			read, err := loadBytes(file, nil)
			if err != nil {
				return false, err
			}
			if _, err := NewTable(read.Words, read.Dim, read.Vectors); err != nil || 2*len(read.Vectors) > len(file) {
				t.Errorf("%s: read a table of %d by %d: %v", format, len(read.Words), read.Dim, err)
			}
			return true, nil
		})
	}
}

// content is what a table holds.
type content struct {
	words   []string
	dim     int
	vectors []float32
}
