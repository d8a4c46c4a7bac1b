package embedding

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// golden returns the table in the files of testdata. gensim, NumPy and the
// safetensors library wrote them (testdata/make_golden.py).
func golden(t testing.TB) *Table {
	t.Helper()
	negativeZero := float32(math.Copysign(0, -1))
	return mustTable(t, []string{"the", "naïve", "日本", "x-1"}, 3, []float32{
		0.5, -0.25, 0.1,
		1e-7, 3, -1234.5,
		0, negativeZero, 16777216,
		0.33333334, 1.1754944e-38, math.MaxFloat32,
	})
}

func mustTable(t testing.TB, words []string, dim int, vectors []float32) *Table {
	t.Helper()
	table, err := NewTable(words, dim, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// requireEqual compares tables. Values must have the same bits: -0 is not 0.
func requireEqual(t testing.TB, got, want *Table) {
	t.Helper()
	sameBits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	if !slices.Equal(got.Words, want.Words) || got.Dim != want.Dim || !slices.EqualFunc(got.Vectors, want.Vectors, sameBits) {
		t.Fatalf("got  %q %d %v\nwant %q %d %v", got.Words, got.Dim, got.Vectors, want.Words, want.Dim, want.Vectors)
	}
	for i, word := range want.Words {
		if row, ok := got.Index(word); !ok || row != i {
			t.Fatalf("Index(%q) = %d, %t; want %d", word, row, ok, i)
		}
	}
}

func TestLoadGolden(t *testing.T) {
	for _, name := range []string{
		"gensim.txt", "gensim-glove.txt", "gensim.bin", "word2vec-c.bin", "numpy.npy", "numpy-float64.npy", "library.safetensors",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Load(t.Context(), filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, got, golden(t))
		})
	}
}

// TestSaveGolden checks that Save writes the same bytes as word2vec.c and NumPy.
func TestSaveGolden(t *testing.T) {
	for name, format := range map[string]Format{"word2vec-c.bin": Word2VecBinary, "numpy.npy": NPY, "numpy.words.txt": NPY} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "numpy.npy")
			if err := Save(path, golden(t), format); err != nil {
				t.Fatal(err)
			}
			if name == "numpy.words.txt" {
				path = WordsPath(path, NPY)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
