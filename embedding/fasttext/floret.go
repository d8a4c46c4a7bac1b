package fasttext

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A table of floret holds no words. Its entries are all n-grams, and all whole words between their
// marks. Two hashes of an entry choose two rows, and a word has the mean of the rows of its entries.
// WriteFloret looks for rows that give the entries their vectors: it solves a linear system. An entry
// is an edge between two rows; in a table with so many rows nearly all edges lie in small trees, which
// have a solution.
const (
	floretHashes = 2
	rowsPerEntry = 8    // most rows are zero, so that entries of unseen words seldom meet others
	floretTries  = 50   // sizes of the table; one of ten does not suit
	floretSweeps = 4000 // most of them for the rare circle of edges, which has no solution
	floretRounds = 8    // of corrections; two or three do
	floretNear   = 9e-7 // how near the values of words must be, or to float32's resolution
	floretSeed   = 2166136261
)

// WriteFloret writes a table with which floret and spaCy give the words of o their vectors, to within
// rounding: floret to a millionth. Every n-gram has the row of o times a factor that is the same for all: with it the sums of
// the n-grams come nearest to the vectors of the words. Entries that are not of o have zeros,
// unless they meet others in one of their rows.
//
// Errors: no n-grams, and those of one character, which floret and spaCy count in different ways.
func WriteFloret(w io.Writer, o Output) error {
	switch err := o.check(); {
	case err != nil:
		return err
	case o.Shape.Longest == 0:
		return errors.New("floret's tables hold n-grams, and these vectors have none")
	case o.Shape.Shortest < 2:
		return errors.New("n-grams of one character: floret and spaCy do not agree on what they are")
	}
	t, err := newFloretTable(&o)
	if err != nil {
		return err
	}
	done, err := memory.Room(int64(len(t.hashes)) * (20*int64(o.Dim) + 64)) // what is wanted, and up to two rows
	if err != nil {
		return fmt.Errorf("a table of floret with %d words and n-grams: %w", len(t.hashes), err)
	}
	defer done()
	t.want()
	for try := range floretTries {
		size := rowsPerEntry*len(t.hashes) + 1 + try
		if size > math.MaxInt32 {
			return fmt.Errorf("%d words and n-grams are more than floret can number", len(t.hashes))
		}
		numbers, values, ok := t.solve(uint32(size))
		for round := 0; ok && round < floretRounds && t.correct(uint32(size), numbers, values); round++ {
			numbers, values, ok = t.solve(uint32(size))
		}
		if ok {
			return writeFloret(w, &o, uint32(size), numbers, values)
		}
	}
	return errors.New("two words or n-grams have the same hashes")
}

// A floretTable has the vectors that entries are to have.
type floretTable struct {
	o       *Output
	index   map[string]int
	hashes  [][floretHashes]uint32
	buckets []uint32  // of n-grams, which are the first entries
	wanted  []float32 // (entries, N)
}

func newFloretTable(o *Output) (*floretTable, error) {
	t := &floretTable{o: o, index: map[string]int{}}
	var meter memory.Meter
	for _, word := range o.Words {
		for gram, bucket := range o.Shape.each(word) {
			if t.add(gram) {
				t.buckets = append(t.buckets, bucket)
			}
		}
		if err := meter.Take(int64(len(word)) * 64); err != nil { // an n-gram or two a byte
			return nil, err
		}
	}
	for _, word := range o.Words {
		t.add(marked(word))
	}
	return t, nil
}

// add adds an entry, and reports whether it is new.
func (t *floretTable) add(entry string) bool {
	if _, ok := t.index[entry]; ok {
		return false
	}
	t.index[entry] = len(t.hashes)
	t.hashes = append(t.hashes, floretHash(entry))
	return true
}

func (t *floretTable) vector(entry int) []float32 { return t.wanted[entry*t.o.Dim:][:t.o.Dim] }

// want sets the vectors of n-grams, and gives whole words what their n-grams lack. A whole word may
// be an n-gram of a longer one, so short words come first.
func (t *floretTable) want() {
	t.wanted = make([]float32, len(t.hashes)*t.o.Dim)
	for entry, bucket := range t.buckets {
		t.o.NGram(bucket, t.vector(entry))
	}
	scale := t.scale()
	for i := range t.wanted {
		t.wanted[i] *= scale
	}
	order := make([]int, len(t.o.Words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(t.o.Words[i]) - len(t.o.Words[j]) })
	for _, i := range order {
		word := t.o.Words[i]
		whole := t.index[marked(word)]
		clear(t.vector(whole))
		sum, parts, times := t.sum(word) // a short word is one of its n-grams, too
		for k, x := range t.o.Vectors[i*t.o.Dim:][:t.o.Dim] {
			t.vector(whole)[k] = float32((float64(parts)*float64(x) - sum[k]) / float64(times))
		}
	}
}

// sum adds up the vectors of a word's n-grams. parts counts its entries, times how often the whole
// word is among them.
func (t *floretTable) sum(word string) (sum []float64, parts, times int) {
	sum, parts, times = make([]float64, t.o.Dim), 1, 1
	whole := t.index[marked(word)]
	for gram := range t.o.Shape.each(word) {
		entry := t.index[gram]
		for k, x := range t.vector(entry) {
			sum[k] += float64(x)
		}
		if parts++; entry == whole {
			times++
		}
	}
	return sum, parts, times
}

// scale returns the factor of n-grams.
func (t *floretTable) scale() float32 {
	var product, square float64
	for i, word := range t.o.Words {
		sum, parts, _ := t.sum(word)
		for k, x := range t.o.Vectors[i*t.o.Dim:][:t.o.Dim] {
			product += float64(parts) * float64(x) * sum[k]
			square += sum[k] * sum[k]
		}
	}
	if product <= 0 {
		return 1
	}
	return float32(product / square)
}

// solve returns the rows of a table that are not zero: their numbers, ascending, and values. Each
// step of Kaczmarz's method sets one entry right, at both of its rows, and is repeated while a row of
// an entry moves. The solution is that of the smallest rows. ok is false if there is none in a table
// of this size.
func (t *floretTable) solve(size uint32) (numbers []uint32, values []float64, ok bool) {
	for _, h := range t.hashes {
		numbers = append(numbers, h[0]%size, h[1]%size)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	dim, limit := t.o.Dim, 0.0
	for _, x := range t.wanted {
		limit = max(limit, 1e-9*math.Abs(float64(x)))
	}
	values, moved := make([]float64, len(numbers)*dim), make([]int, len(numbers)) // in which sweep
	rows := make([][floretHashes]int, len(t.hashes))
	for entry, h := range t.hashes {
		for i := range h {
			rows[entry][i], _ = slices.BinarySearch(numbers, h[i]%size)
		}
	}
	for sweep := 1; sweep <= floretSweeps && !ok; sweep++ {
		ok = true
		for entry, r := range rows {
			if max(moved[r[0]], moved[r[1]]) < sweep-1 {
				continue
			}
			a, b := values[r[0]*dim:][:dim], values[r[1]*dim:][:dim]
			for k, x := range t.vector(entry) {
				lack := floretHashes*float64(x) - a[k] - b[k] // the mean is of all rows
				a[k] += lack / 2
				b[k] += lack / 2
				if math.Abs(lack) > limit {
					moved[r[0]], moved[r[1]], ok = sweep, sweep, false
				}
			}
		}
	}
	return numbers, values, ok
}

// correct moves the vectors of whole words where floret's own sum, in float32, is not near enough to
// the vector of the word. It reports whether it moved one.
func (t *floretTable) correct(size uint32, numbers []uint32, values []float64) (moved bool) {
	dim := t.o.Dim
	sum := make([]float32, dim)
	for i, word := range t.o.Words {
		whole := t.index[marked(word)]
		clear(sum)
		t.addRows(sum, whole, size, numbers, values)
		parts, times := 1, 1
		for gram := range t.o.Shape.each(word) {
			entry := t.index[gram]
			t.addRows(sum, entry, size, numbers, values)
			if parts++; entry == whole {
				times++
			}
		}
		inverse := float32(1 / float64(floretHashes*parts))
		for k, x := range t.o.Vectors[i*dim:][:dim] {
			if lack := float64(x) - float64(sum[k]*inverse); math.Abs(lack) > max(floretNear, math.Abs(float64(x))*0x1p-23) {
				t.vector(whole)[k] += float32(lack * float64(parts) / float64(times))
				moved = true
			}
		}
	}
	return moved
}

// addRows adds the rows of an entry to a sum, as floret does.
func (t *floretTable) addRows(sum []float32, entry int, size uint32, numbers []uint32, values []float64) {
	for _, h := range t.hashes[entry] {
		row, _ := slices.BinarySearch(numbers, h%size)
		for k, x := range values[row*len(sum):][:len(sum)] {
			sum[k] += float32(x)
		}
	}
}

// writeFloret writes a table: a head, and a line for each row.
func writeFloret(w io.Writer, o *Output, size uint32, numbers []uint32, values []float64) error {
	if _, err := fmt.Fprintf(w, "%d %d %d %d %d %d < >\n",
		size, o.Dim, o.Shape.Shortest, o.Shape.Longest, floretHashes, uint32(floretSeed)); err != nil {
		return err
	}
	var line []byte
	zeros := strings.Repeat(" 0", o.Dim)
	for number := range size {
		line = strconv.AppendUint(line[:0], uint64(number), 10)
		if len(numbers) == 0 || numbers[0] != number {
			line = append(line, zeros...)
		} else {
			for _, x := range values[:o.Dim] {
				line = strconv.AppendFloat(append(line, ' '), x, 'g', -1, 32)
			}
			numbers, values = numbers[1:], values[o.Dim:]
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// floretHash returns the first hashes of an entry, from MurmurHash3_x64_128 (Appleby, in the public domain).
func floretHash(entry string) (hashes [floretHashes]uint32) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	word := func(b string) (x uint64) { // little-endian, up to eight bytes
		for i := range min(len(b), 8) {
			x |= uint64(b[i]) << (8 * i)
		}
		return x
	}
	h1, h2 := uint64(floretSeed), uint64(floretSeed)
	rest := entry
	for ; len(rest) >= 16; rest = rest[16:] {
		h1 ^= bits.RotateLeft64(word(rest)*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(word(rest[8:])*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	h1 ^= bits.RotateLeft64(word(rest)*c1, 31) * c2 // nothing changes where no bytes are left
	h2 ^= bits.RotateLeft64(word(rest[min(8, len(rest)):])*c2, 33) * c1
	h1 ^= uint64(len(entry))
	h2 ^= uint64(len(entry))
	h1 += h2
	h2 += h1
	mixed := murmurMix(h1) + murmurMix(h2)
	return [floretHashes]uint32{uint32(mixed), uint32(mixed >> 32)}
}

func murmurMix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
