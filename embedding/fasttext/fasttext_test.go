package fasttext

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goldenFiles are models that fastText wrote, and what it says of their words
// (testdata/check.py).
var goldenFiles = []string{"skipgram-ns-6", "cbow-hs-3", "skipgram-hs-0"}

type goldenWord struct {
	Word   string
	Seen   bool
	Vector []float32
	Rows   []int
}

func golden(t testing.TB, name string) (model []byte, words []goldenWord) {
	t.Helper()
	model, err := os.ReadFile(filepath.Join("testdata", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &words); err != nil {
		t.Fatal(err)
	}
	return model, words
}

func requireNear(t testing.TB, what string, got, want []float32) {
	t.Helper()
	for i, x := range want {
		if !(math.Abs(float64(got[i]-x)) <= 1e-6) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], x)
		}
	}
}

// open and Read give the vectors and n-grams of fastText.
func TestGolden(t *testing.T) {
	for _, name := range goldenFiles {
		data, words := golden(t, name)
		path := filepath.Join("testdata", name+".bin")
		mapped, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		packed := filepath.Join(t.TempDir(), "model.bin.gz")
		var gz bytes.Buffer
		w := gzip.NewWriter(&gz)
		_, _ = w.Write(data)
		_ = w.Close()
		if err := os.WriteFile(packed, gz.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		unpacked, err := Open(packed)
		if err != nil {
			t.Fatal(err)
		}
		inMemory, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if !IsModel(path) || !IsModel(packed) || IsModel("doc.go") || IsModel("none") {
			t.Error("IsModel is wrong")
		}
		for _, m := range []*Model{mapped, unpacked, inMemory} {
			table := m.Vectors()
			for _, want := range words {
				rows, i := []int{}, slices.Index(m.Words, want.Word)
				if want.Seen != (i >= 0) {
					t.Fatalf("%s: %q is word %d", name, want.Word, i)
				}
				if want.Seen {
					requireNear(t, want.Word, table[i*m.Dim():][:m.Dim()], want.Vector)
					rows = append(rows, i)
				}
				for _, b := range m.Shape().NGrams(nil, want.Word) {
					rows = append(rows, len(m.Words)+int(b))
				}
				if want.Word != "" && !slices.Equal(rows, want.Rows) { // fastText was not asked for the empty word's
					t.Errorf("%s: rows of %q are %v, want %v", name, want.Word, rows, want.Rows)
				}
				got := make([]float32, m.Dim())
				if err := m.Encode([]string{want.Word}, got); err != nil {
					t.Fatal(err)
				}
				requireNear(t, name+" "+want.Word, got, want.Vector)
			}
			if err := m.Encode([]string{"a"}, nil); err == nil {
				t.Error("no error for too little room")
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// randomOutput is a model of random rows.
func randomOutput(r *rand.Rand, words []string, dim int, s Shape) (o Output, table []float32) {
	random := func(n int) []float32 {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(r.NormFloat64())
		}
		return values
	}
	table = random(s.Buckets * dim)
	o = Output{Words: words, Dim: dim, Vectors: random(len(words) * dim), Shape: s, CBOW: true, Window: 5}
	if s.Buckets > 0 {
		o.NGram = func(bucket uint32, dst []float32) { copy(dst, table[int(bucket)*dim:]) }
	}
	return o, table
}

// What is written is read back: words have their vectors, others the mean of their
// n-grams' rows.
func TestWrite(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	words := []string{"a", "economy", "ice cream", "日本語", "</s>", "\x01", strings.Repeat("long", 20)}
	for _, s := range []Shape{{}, {3, 6, 100}, {1, 3, 7}, {2, 2, 1}} {
		for _, dim := range []int{1, 5, 300} {
			o, table := randomOutput(r, words, dim, s)
			if dim == 5 {
				o.Counts = []uint64{9, 8, 7, 6, 5, 4, 0}
				o.Contexts = slices.Clone(o.Vectors)
			}
			var file bytes.Buffer
			if err := Write(&file, o); err != nil {
				t.Fatal(err)
			}
			m, err := Read(&file, int64(file.Len()))
			if err != nil {
				t.Fatalf("%v, dimension %d: %v", s, dim, err)
			}
			if !slices.Equal(m.Words, words) || m.Shape() != s || m.Dim() != dim || m.Counts[6] != 1 {
				t.Fatalf("%v: read %q, %+v, %d, %v", s, m.Words, m.Shape(), m.Dim(), m.Counts)
			}
			requireNear(t, fmt.Sprintf("%v, dimension %d", s, dim), m.Vectors(), o.Vectors)
			for _, word := range []string{"unseen", "x", ""} {
				want, buckets := make([]float32, dim), s.NGrams(nil, word)
				for _, b := range buckets {
					for j := range want {
						want[j] += table[int(b)*dim+j] / float32(len(buckets))
					}
				}
				got := make([]float32, dim)
				if err := m.Encode([]string{word}, got); err != nil {
					t.Fatal(err)
				}
				requireNear(t, word, got, want)
			}
		}
	}
}

// The definition of n-grams in the comment of fastText, character by character.
func TestNGrams(t *testing.T) {
	hash := func(text string) uint32 {
		h := uint32(2166136261)
		for _, b := range []byte(text) {
			h ^= uint32(int8(b))
			h *= 16777619
		}
		return h
	}
	for _, word := range []string{"a", "", "日本語", "naïve", "<>", "economy"} {
		for _, s := range []Shape{{1, 3, 1000}, {3, 6, 1 << 20}, {2, 1, 5}, {0, 2, 9}} {
			marked := []rune("<" + word + ">")
			var want []uint32
			for i := range marked {
				for n := max(s.Shortest, 1); n <= s.Longest && i+n <= len(marked); n++ {
					if n > 1 || i > 0 && i < len(marked)-1 {
						want = append(want, hash(string(marked[i:i+n]))%uint32(s.Buckets))
					}
				}
			}
			if got := s.NGrams(nil, word); !slices.Equal(got, want) {
				t.Errorf("%v of %q: %v, want %v", s, word, got, want)
			}
		}
	}
}

// Damaged files and models that are not read are refused by what is wrong.
func TestRefused(t *testing.T) {
	data, _ := golden(t, "skipgram-ns-6")
	field := func(offset int, value int32) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[offset:], uint32(value))
			return b
		}
	}
	const head = 4 + 13*4 + 8 // to the dictionary's numbers
	dictionary := head + 3*4 + 2*8
	end := bytes.Index(data[dictionary:], []byte("x<y>")) // none: words end before the matrix
	if end >= 0 {
		t.Fatal("the golden model has changed")
	}
	matrix := bytes.LastIndex(data, []byte{3, 0, 0, 0, 0, 0, 0, 0})
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   string
	}{
		"no model":       {field(0, 5), "not a fastText model"},
		"version":        {field(4, 13), "version 13"},
		"supervised":     {field(8+4*7, 3), "classifier"},
		"model 7":        {field(8+4*7, 7), "header is damaged"},
		"dimension 0":    {field(8, 0), "dimension 0"},
		"huge dimension": {field(8, math.MaxInt32), "dimension"},
		"other buckets":  {field(8+4*8, 41), "rows"},
		"long n-grams":   {field(8+4*10, 257), "header is damaged"},
		"no buckets":     {field(8+4*8, 0), "header is damaged"},
		"huge buckets":   {field(8+4*8, math.MaxInt32), "rows"},
		"huge entries": {func(b []byte) []byte {
			return field(head+4, math.MaxInt32)(field(head, math.MaxInt32)(b))
		}, "do not fit"},
		"negative words": {field(head+4, -1), "header is damaged"},
		"pruned":         {func(b []byte) []byte { b[head+20] = 1; copy(b[head+21:], make([]byte, 7)); return b }, "pruned"},
		"empty word":     {func(b []byte) []byte { b[dictionary] = 0; return b }, "empty"},
		"longer":         {func(b []byte) []byte { return append(b, 0) }, "after the end"},
		"quantized":      {func(b []byte) []byte { b[matrix-9] = 1; return b }, "quantized"},
	} {
		_, err := Read(bytes.NewReader(c.change(slices.Clone(data))), int64(len(data)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	dir := t.TempDir()
	for n := range len(data) {
		if _, err := Read(bytes.NewReader(data[:n]), int64(n)); err == nil {
			t.Fatalf("a model cut to %d bytes is read", n)
		}
		if _, err := Read(bytes.NewReader(data[:n]), 0); err == nil {
			t.Fatalf("a stream cut to %d bytes is read", n)
		}
		if n%97 != 0 {
			continue
		}
		path := filepath.Join(dir, "cut.bin")
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("a file cut to %d bytes: %v", n, err)
		}
	}
	for i, o := range []Output{
		{}, {Words: []string{"a\x00"}, Dim: 1, Vectors: []float32{1}},
		{Words: []string{"a"}, Dim: 1, Vectors: []float32{1}, Contexts: []float32{1, 2}},
		{Words: []string{"a"}, Dim: 1, Vectors: []float32{1}, Counts: []uint64{1, 2}},
		{Words: []string{"a"}, Dim: 1, Vectors: []float32{1}, Shape: Shape{1, 2, 3}},
		{Words: []string{"a"}, Dim: 1, Vectors: []float32{math.MaxFloat32}, Shape: Shape{1, 2, 3}, NGram: func(uint32, []float32) {}},
	} {
		if err := Write(&bytes.Buffer{}, o); err == nil {
			t.Errorf("output %d is written", i)
		}
	}
}

// A word that is no UTF-8 keeps the n-grams of its bytes.
func TestNotUTF8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	o, _ := randomOutput(r, []string{"a\xffb", "\x80\x81", "a\xfeb"}, 2, Shape{1, 3, 10})
	var file bytes.Buffer
	if err := Write(&file, o); err != nil {
		t.Fatal(err)
	}
	m, err := Read(&file, 0)
	if err != nil || !slices.Equal(m.Words, []string{"a\uFFFDb", "\uFFFD\uFFFD", `a\xfeb`}) {
		t.Fatalf("%q, %v", m.Words, err)
	}
	requireNear(t, "vectors", m.Vectors(), o.Vectors)
}

// FuzzRead: whatever a file says, memory stays in proportion to its length, nothing
// panics, and what is read can be asked for.
func FuzzRead(f *testing.F) {
	for _, name := range goldenFiles {
		data, _ := golden(f, name)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data), int64(len(data)))
		streamed, streamErr := Read(bytes.NewReader(data), 0)
		if (err == nil) != (streamErr == nil) {
			t.Fatalf("read from a file: %v; from a stream: %v", err, streamErr)
		}
		if err != nil {
			return
		}
		if len(m.Words) != len(streamed.Words) || len(m.rows) != 4*m.Dim()*(len(m.Words)+m.Shape().Buckets) {
			t.Errorf("%d words, %d bytes of rows", len(m.Words), len(m.rows))
		}
		m.Vectors()
		dst := make([]float32, 2*m.Dim())
		_ = m.Encode([]string{"unseen", "\xff"}, dst) // NaN may be in the file
	})
}
