package fasttext

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Hashes by the package mmh3 of Python.
func TestFloretHash(t *testing.T) {
	for _, want := range []struct {
		text          string
		first, second uint32
	}{
		{"", 0xc2754a40, 0x10854f64},
		{"a", 0xe6734340, 0xaa4b9da},
		{"<cat>", 0x94b89c3b, 0xab56864f},
		{"<eightby", 0x4c3d8597, 0x7b260407},
		{"<eightbyt", 0x45e93e39, 0xecf2a443},
		{"0123456789abcde", 0xf6785c39, 0x78708f52},
		{"0123456789abcdef", 0x39bfde43, 0x90e4b1fa},
		{"0123456789abcdefg", 0x33acd30d, 0x12def330},
		{"<Donaudampfschifffahrtsgesellschaft>", 0x84330b23, 0x3bfa8b6a},
		{"日本語", 0xd037af88, 0x51b8873f},
	} {
		if got := floretHash(want.text); got != [floretHashes]uint32{want.first, want.second} {
			t.Errorf("%q: %#x, want %#x, %#x", want.text, got, want.first, want.second)
		}
	}
}

// readFloret returns what gives words vectors as floret does, in float32.
func readFloret(t *testing.T, table string) func(word string) []float64 {
	t.Helper()
	var s Shape
	var dim, hashes int
	var seed uint32
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if _, err := fmt.Sscanf(lines[0], "%d %d %d %d %d %d < >", &s.Buckets, &dim, &s.Shortest, &s.Longest, &hashes, &seed); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1+s.Buckets || hashes != floretHashes || seed != floretSeed {
		t.Fatalf("%d lines; head %q", len(lines), lines[0])
	}
	rows := make([][]float32, s.Buckets)
	for i, line := range lines[1:] {
		fields := strings.Fields(line)
		if len(fields) != 1+dim || fields[0] != fmt.Sprint(i) {
			t.Fatalf("row %d: %q", i, line)
		}
		rows[i] = make([]float32, dim)
		for k := range dim {
			if _, err := fmt.Sscan(fields[1+k], &rows[i][k]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return func(word string) []float64 {
		sum, vector := make([]float32, dim), make([]float64, dim)
		entries := []string{marked(word)}
		for gram := range s.each(word) {
			entries = append(entries, gram)
		}
		for _, entry := range entries {
			for _, h := range floretHash(entry) {
				for k, x := range rows[h%uint32(s.Buckets)] {
					sum[k] += x
				}
			}
		}
		for k, x := range sum {
			vector[k] = float64(x * float32(1/float64(floretHashes*len(entries))))
		}
		return vector
	}
}

// Words have their vectors, and the n-grams of unseen words their rows.
func TestWriteFloret(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "<", "<a>", "<<a>>", "the", "aaaaaa", "日本", "naïve", "</s>", "with space"}
	for range 500 {
		word := make([]byte, 1+r.IntN(12))
		for i := range word {
			word[i] = "abcdefgh"[r.IntN(8)]
		}
		words = append(words, string(word))
	}
	words = different(words)
	for _, s := range []Shape{{Shortest: 3, Longest: 6, Buckets: 1 << 20}, {Shortest: 2, Longest: 2, Buckets: 50}} {
		o, _ := randomOutput(r, words, 5, s)
		for i, word := range words { // vectors that have something of their n-grams
			sum, parts := ngramSum(o, word)
			for k := range o.Dim {
				o.Vectors[i*o.Dim+k] += float32(3 * sum[k] / float64(parts))
			}
		}
		var out bytes.Buffer
		if err := WriteFloret(&out, o); err != nil {
			t.Fatal(err)
		}
		vector := readFloret(t, out.String())
		for i, word := range words {
			for k, x := range vector(word) {
				if !(math.Abs(x-float64(o.Vectors[i*o.Dim+k])) <= 1e-6) {
					t.Fatalf("%q: value %d is %v, want %v", word, k, x, o.Vectors[i*o.Dim+k])
				}
			}
		}
		if s.Longest > 2 {
			continue // there are so few n-grams that no word has an unseen one
		}
		mean := 0.0
		for range 50 {
			word := make([]byte, 13)
			for i := range word {
				word[i] = "abcdefgh"[r.IntN(8)]
			}
			sum, _ := ngramSum(o, string(word))
			mean += cosineOf(vector(string(word)), sum) / 50
		}
		if mean < 0.9 {
			t.Errorf("unseen words: cosine %v", mean)
		}
	}
}

func different(words []string) (kept []string) {
	met := map[string]bool{}
	for _, word := range words {
		if !met[word] {
			kept = append(kept, word)
		}
		met[word] = true
	}
	return kept
}

func ngramSum(o Output, word string) (sum []float64, parts int) {
	sum, parts = make([]float64, o.Dim), 1
	row := make([]float32, o.Dim)
	for _, bucket := range o.Shape.each(word) {
		o.NGram(bucket, row)
		for k, x := range row {
			sum[k] += float64(x)
		}
		parts++
	}
	return sum, parts
}

func cosineOf(a, b []float64) float64 {
	var product, first, second float64
	for k := range a {
		product, first, second = product+a[k]*b[k], first+a[k]*a[k], second+b[k]*b[k]
	}
	return product / math.Sqrt(first*second)
}

// A circle of even length has no solution, one of odd length has, and so has an entry with one row.
func TestFloretCircles(t *testing.T) {
	for name, c := range map[string]struct {
		hashes [][floretHashes]uint32
		want   bool
	}{
		"path":           {[][floretHashes]uint32{{1, 2}, {2, 3}, {3, 4}, {4, 5}}, true},
		"odd circle":     {[][floretHashes]uint32{{1, 2}, {2, 3}, {3, 1}}, true},
		"one row":        {[][floretHashes]uint32{{7, 7}, {7, 8}}, true},
		"even circle":    {[][floretHashes]uint32{{1, 2}, {2, 3}, {3, 4}, {4, 1}}, false},
		"the same rows":  {[][floretHashes]uint32{{1, 2}, {2, 1}}, false},
		"two in one row": {[][floretHashes]uint32{{7, 7}, {17, 7}}, false},
	} {
		table := floretTable{o: &Output{Dim: 1}, hashes: c.hashes, wanted: []float32{1, -2, 4, 8}[:len(c.hashes)]}
		numbers, values, ok := table.solve(10)
		if ok != c.want {
			t.Errorf("%s: %v", name, ok)
		}
		row := map[uint32]float64{}
		for i, n := range numbers {
			row[n] = values[i]
		}
		for entry, h := range c.hashes {
			if got := (row[h[0]%10] + row[h[1]%10]) / 2; ok && math.Abs(got-float64(table.wanted[entry])) > 1e-6 {
				t.Errorf("%s: entry %d is %v", name, entry, got)
			}
		}
	}
}

func TestWriteFloretErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plain, _ := randomOutput(r, []string{"a"}, 2, Shape{})
	short, _ := randomOutput(r, []string{"a"}, 2, Shape{Shortest: 1, Longest: 2, Buckets: 5})
	for want, o := range map[string]Output{"have none": plain, "one character": short, "do not make": {}} {
		if err := WriteFloret(&bytes.Buffer{}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
