//go:build gpu

package sentence

import "github.com/w2vcl/w2vcl/kernels/cuda"

// Rows that many warps change at once lie apart in the device's memory, and in
// pieces: see Chunks of rows.cuh. Word w has number w·successor mod V there, so
// that frequent words are not neighbours, and its row is cut into chunks of
// chunkValues: all rows' first chunks lie together, then all their second ones.

const chunkValues = 32 // a cache line

// chunks is the number of chunks of a row.
func chunks(dim int) int { return (dim + chunkValues - 1) / chunkValues }

// numbers are the words' numbers on the device.
type numbers struct{ vocabulary, successor uint32 }

// newNumbers takes a step near the golden section, which keeps neighbours apart,
// that has no divisor in common with the vocabulary's size.
func newNumbers(vocabulary int) numbers {
	step := max(vocabulary*618/1000, 1)
	for divisor(step, vocabulary) > 1 {
		step++
	}
	return numbers{uint32(vocabulary), uint32(step)}
}

// divisor is the greatest common one.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func (n numbers) number(word int) int {
	return int(uint64(word) * uint64(n.successor) % uint64(n.vocabulary))
}

// numbered reorders one value a word.
func numbered[T any](n numbers, values []T) []T {
	to := make([]T, len(values))
	for w, x := range values {
		to[n.number(w)] = x
	}
	return to
}

// alias turns columns {accept, other} into {accept, word, other, 0}, with numbers.
func (n numbers) alias(columns []uint32) []uint32 {
	to := make([]uint32, 0, 2*len(columns))
	for i := 0; i < len(columns); i += 2 {
		to = append(to, columns[i], uint32(n.number(i/2)), uint32(n.number(int(columns[i+1]))), 0)
	}
	return to
}

// chunks returns rows, (V, N), as they lie on the device.
func (n numbers) chunks(rows []float32, dim int) []float32 {
	to := make([]float32, chunkValues*chunks(dim)*int(n.vocabulary))
	n.each(dim, func(row, chunk, values int) { copy(to[chunk:][:values], rows[row:]) })
	return to
}

// rows is the way back.
func (n numbers) rows(to, chunks []float32, dim int) {
	n.each(dim, func(row, chunk, values int) { copy(to[row:][:values], chunks[chunk:]) })
}

// each calls f for every chunk with its place in (V, N) rows, its place on the
// device and the number of its values, from all processors: on one it would take
// as long as an epoch of training.
func (n numbers) each(dim int, f func(row, chunk, values int)) {
	rows := int(n.vocabulary)
	cuda.Parallel(rows, func(first, end int) {
		for w := first; w < end; w++ {
			number := n.number(w)
			for c := range chunks(dim) {
				f(w*dim+c*chunkValues, (c*rows+number)*chunkValues, min(chunkValues, dim-c*chunkValues))
			}
		}
	})
}
