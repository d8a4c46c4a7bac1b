package embedding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Rows are written as one loop writes them, whatever the number of threads: of few and many words, short and long vectors.
func TestRows(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for _, words := range []int{1, 2, 511, 3000} {
		for _, dim := range []int{1, 31, 500, 140_000} {
			if words*dim > 500_000 {
				continue
			}
			rows, weight := Rows{Dim: dim}, r.Float32()
			table := make([]float32, words*dim)
			for i := range table {
				table[i] = r.Float32() - .5
			}
			rows.Vector = func(i int, buffer []float32) []float32 {
				for k, v := range table[i*dim:][:dim] {
					buffer[k] = weight * v
				}
				return buffer
			}
			var want bytes.Buffer
			fmt.Fprintf(&want, "%d %d\n", words, dim)
			for i := range words {
				rows.Words = append(rows.Words, fmt.Sprint(strings.Repeat("w", r.IntN(20)), i))
				fmt.Fprintf(&want, "%s ", rows.Words[i])
				for _, v := range table[i*dim:][:dim] {
					want.Write(binary.LittleEndian.AppendUint32(want.AvailableBuffer(), math.Float32bits(weight*v)))
				}
				want.WriteByte('\n')
			}
			for _, threads := range []int{0, 1, 3, 16} {
				var got bytes.Buffer
				if err := rows.WriteBinary(&got, threads); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("seed %d: %d words of %d values, %d threads: other bytes, %v", seed, words, dim, threads, err)
				}
			}
			for range 3 { // the first value that is not finite is told
				i, j := r.IntN(len(table)), r.IntN(len(table))
				table[i], table[j] = float32(math.Inf(1)), float32(math.NaN())
				first := min(i, j)
				err := rows.WriteBinary(&bytes.Buffer{}, 5)
				if told := fmt.Sprintf("value %d of the vector of word %d ", first%dim+1, first/dim+1); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), told) {
					t.Errorf("seed %d: %d words of %d values: %v, want %s", seed, words, dim, err, told)
				}
				table[i], table[j] = 0, 0
			}
		}
	}
}

// What cannot be written ends the writing.
func TestRowsErrors(t *testing.T) {
	words := make([]string, 5_000)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	rows := Rows{Words: words, Dim: 100, Vector: func(i int, buffer []float32) []float32 {
		buffer[0] = float32(i)
		return buffer
	}}
	for _, x := range []struct{ word, want string }{{"a b", "contains ' '"}, {"", "is empty"}, {"\xff", "is not valid UTF-8"}, {"a\nb", `contains '\n'`}} {
		for _, i := range []int{0, 3_000, len(words) - 1} {
			before := words[i]
			words[i] = x.word
			if err := rows.WriteBinary(&bytes.Buffer{}, 2); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("word %d ", i+1)) || !strings.Contains(err.Error(), x.want) {
				t.Errorf("word %d is %q: %v", i, x.word, err)
			}
			words[i] = before
		}
	}
	full := errors.New("full")
	for _, calls := range []int{0, 1, 7} {
		if err := rows.WriteBinary(failing{&calls, full}, 2); !errors.Is(err, full) {
			t.Errorf("no error of the file: %v", err)
		}
	}
}

// failing takes some calls.
type failing struct {
	calls *int
	err   error
}

func (f failing) Write(p []byte) (int, error) {
	if *f.calls--; *f.calls < 0 {
		return 0, f.err
	}
	return len(p), nil
}
