package embedding

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// randomTable returns a table of random values: any float32 but NaN and infinity.
func randomTable(t testing.TB, words, dim int) *Table {
	random := rand.New(rand.NewPCG(uint64(words), uint64(dim)))
	names := make([]string, words)
	for i := range names {
		names[i] = fmt.Sprintf("w%d", i)
	}
	values := make([]float32, words*dim)
	for i := range values {
		for ok := false; !ok; ok = Finite(values[i]) {
			values[i] = math.Float32frombits(random.Uint32())
		}
	}
	return mustTable(t, names, dim, values)
}

func pathFor(t *testing.T, f Format) string {
	for extension, format := range extensions {
		if format == f {
			return filepath.Join(t.TempDir(), "vectors"+extension)
		}
	}
	t.Fatalf("format %s has no extension", f)
	return ""
}

func TestRoundTrip(t *testing.T) {
	tables := map[string]*Table{
		"golden":      golden(t),
		"1 word":      randomTable(t, 1, 50),
		"dimension 1": randomTable(t, 50, 1),
		"1x1":         randomTable(t, 1, 1),
		"random":      randomTable(t, 300, 17),
		"ordinary values of small dimension": mustTable(t, []string{"a", "b"}, 2,
			[]float32{0.01, 0.02, -0.5, 1}),
		"values like text":           mustTable(t, []string{"a", "b"}, 1, []float32{0.0439453125, 0.125}),
		"zeros":                      mustTable(t, []string{"a", "b"}, 2, []float32{0, 0, 0, 0}),
		"long word":                  mustTable(t, []string{strings.Repeat("x", 100_000)}, 1, []float32{1}),
		"line longer than a buffer":  randomTable(t, 2, 100_000),
		"control and odd characters": mustTable(t, []string{"\x01", "\u00a0", "\u2028", "\"", "\\", "'", "</s>", "{", "#"}, 1, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}),
	}
	for name, table := range tables {
		for _, format := range Formats() {
			t.Run(name+"/"+string(format), func(t *testing.T) {
				path := pathFor(t, format)
				if err := Save(path, table, ""); err != nil {
					t.Fatal(err)
				}
				got, err := Load(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				requireEqual(t, got, table)
			})
		}
	}
}

func TestCompressed(t *testing.T) {
	want := randomTable(t, 20, 5)
	for _, format := range Formats() {
		for _, extension := range []string{".gz", ".zst", ".GZ"} {
			if format == FastTextModel {
				continue
			}
			t.Run(string(format)+extension, func(t *testing.T) {
				path := pathFor(t, format) + extension
				if err := Save(path, want, ""); err != nil {
					t.Fatal(err)
				}
				got, err := Load(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				requireEqual(t, got, want)
				head, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if f := textfile.FormatOf(head[:textfile.HeadBytes]); f != "gzip" && f != "zstd" {
					t.Errorf("written as %q", f)
				}
				if !HoldsVectors(path) {
					t.Error("it holds no vectors")
				}
			})
		}
	}
}

func TestLoadGzip(t *testing.T) {
	want := randomTable(t, 20, 5)
	for _, format := range Formats() {
		t.Run(string(format), func(t *testing.T) {
			path := pathFor(t, format)
			if err := Save(path, want, format); err != nil {
				t.Fatal(err)
			}
			plain, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write(plain)
			w.Close()
			write(t, path+".gz", packed.Bytes())
			got, err := Load(t.Context(), path+".gz")
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, got, want)

			write(t, path+".gz", packed.Bytes()[:packed.Len()-10])
			if _, err := Load(t.Context(), path+".gz"); err == nil || !strings.Contains(err.Error(), "EOF") {
				t.Errorf("cut gzip: error %v", err)
			}
		})
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestForbiddenWords checks that Save refuses, by name, a word that a format cannot
// hold, and leaves nothing behind.
func TestForbiddenWords(t *testing.T) {
	for _, c := range []struct {
		word    string
		formats []Format // that can hold it
	}{
		{"ice cream", []Format{NPY, Safetensors, Projector, FastTextModel}},
		{"a\tb", []Format{NPY, Safetensors, FastTextModel}},
		{"nul\x00", []Format{NPY, Safetensors, Projector}},
		{"a\nb", []Format{FastTextModel}},
		{"a\r", []Format{FastTextModel}},
		{" ", []Format{NPY, Safetensors, Projector, FastTextModel}},
	} {
		table := mustTable(t, []string{"first", c.word}, 2, []float32{1, 2, 3, 4})
		for _, format := range Formats() {
			path := pathFor(t, format)
			err := Save(path, table, format)
			if slices.Contains(c.formats, format) {
				if err != nil {
					t.Errorf("%q as %s: %v", c.word, format, err)
					continue
				}
				got, err := Load(t.Context(), path)
				if err != nil {
					t.Errorf("%q as %s: %v", c.word, format, err)
					continue
				}
				requireEqual(t, got, table)
				continue
			}
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("word 2 (%q)", c.word)) {
				t.Errorf("%q as %s: error %v", c.word, format, err)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
				t.Errorf("%q as %s: %v left behind", c.word, format, left)
			}
		}
	}
}

// TestWriteNothing: Save looks at all words before it writes one, and an empty table has none.
func TestWriteNothing(t *testing.T) {
	words, values := make([]string, 20_000), make([]float32, 20_000*5)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	words[len(words)-1] = "a b"
	for _, format := range []Format{Word2VecBinary, Word2VecText, GloVe} {
		path := filepath.Join(t.TempDir(), "table")
		err := Save(path, mustTable(t, words, 5, values), format)
		if _, missing := os.Stat(path); err == nil || missing == nil {
			t.Errorf("%s: a file in spite of the error %v", format, err)
		}
		if err := Save(path, &Table{Dim: 3}, format); err != nil {
			t.Errorf("%s of no words: %v", format, err)
		}
	}
}

// TestBeginnings: a file that would be taken for one of another format is not written.
// Others that come near are, and read back the same.
func TestBeginnings(t *testing.T) {
	digits := func(text string) []float32 {
		values := make([]float32, len(text)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(text[4*i:])))
		}
		return values
	}
	for _, c := range []struct {
		words   []string
		values  []float32
		format  Format
		refusal string // or "", if it is written
	}{
		{[]string{"10", "a"}, []float32{3, 4}, GloVe, "the first line (10 3) would be taken for a header; write it as format text"},
		{[]string{"10", "a"}, []float32{3, 4, 5, 6}, GloVe, ""},
		{[]string{"PK\x03\x04", "a"}, []float32{3, 4}, GloVe, "it is a zip archive"},
		{[]string{"PK\x03\x04", "a"}, []float32{3, 4}, Word2VecText, ""},
		{[]string{"0", "A"}, digits("000000000000" + "000000000000"), Word2VecBinary, "would be taken for text; write it as format safetensors"},
		{[]string{"a"}, digits("1234"), Word2VecBinary, "would be taken for text"},
		{[]string{"a"}, digits("12\x0034"), Word2VecBinary, ""},
		{[]string{"a"}, digits(strings.Repeat("0.1 ", 50)), Word2VecBinary, "would be taken for text"},
		// The length of safetensors' header comes before its {.
		{[]string{"a"}, digits("\x00\x00{\x3e"), Word2VecBinary, ""},
		{[]string{"a", "b"}, digits("\x00{{\x3e" + "\x00{{\x3e" + "\x00{{\x3e" + "\x00{{\x3e"), Word2VecBinary, ""},
	} {
		table := mustTable(t, c.words, len(c.values)/len(c.words), c.values)
		path := filepath.Join(t.TempDir(), "x")
		err := Save(path, table, c.format)
		if c.refusal != "" {
			if err == nil || !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("%q %v as %s: error %v", c.words, c.values, c.format, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q %v as %s: error %v", c.words, c.values, c.format, err)
			continue
		}
		got, err := Load(t.Context(), path)
		if err != nil {
			t.Errorf("%q %v as %s: %v", c.words, c.values, c.format, err)
			continue
		}
		requireEqual(t, got, table)
	}
}

func TestSaveErrors(t *testing.T) {
	table := golden(t)
	dir := t.TempDir()
	for _, c := range []struct {
		path   string
		format Format
		want   string
	}{
		{filepath.Join(dir, "x.bin"), "word", `unknown vector format "word"`},
		{filepath.Join(dir, "x.pdf"), "", "the extension does not name a format"},
		{filepath.Join(dir, "x.fasttext.bin.gz"), "", "format fasttext-bin cannot be compressed"},
		{filepath.Join(dir, "none", "x.bin"), "", "cannot write"},
	} {
		if err := Save(c.path, table, c.format); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Save(%q, %q): error %v, want %q", c.path, c.format, err, c.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v left behind", left)
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{
		"a.txt": Word2VecText, "a.b.BIN": Word2VecBinary, "x/a.vec": FastText, "a.glove": GloVe, "a.glove.txt": GloVe,
		"a.npy": NPY, "a.safetensors": Safetensors, "vectors.tsv": Projector, "a.fasttext": FastTextModel, "a.FastText.bin": FastTextModel,
	} {
		if got, err := FormatOf(path); err != nil || got != want {
			t.Errorf("FormatOf(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for _, f := range Formats() {
		if got, err := ParseFormat(strings.ToUpper(string(f))); err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
}

func TestWordsPath(t *testing.T) {
	for _, c := range []struct {
		path   string
		format Format
		want   string
	}{
		{"d/out.npy", NPY, "d/out.words.txt"},
		{"out.npy.gz", NPY, "out.words.txt"},
		{"vectors.tsv", Projector, "metadata.tsv"},
		{"d/run_vectors.tsv", Projector, "d/run_metadata.tsv"},
		{"run.tsv", Projector, "run.metadata.tsv"},
		{"out.bin", Word2VecBinary, ""},
	} {
		if got := WordsPath(c.path, c.format); got != c.want {
			t.Errorf("WordsPath(%q, %s) = %q, want %q", c.path, c.format, got, c.want)
		}
	}
}
