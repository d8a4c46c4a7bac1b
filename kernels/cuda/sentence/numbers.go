//go:build gpu

package sentence

import (
	"math/big"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// Rows that many warps change at once lie apart in the device's memory, and in
// pieces: see Chunks of rows.cuh. Word w has number w·successor mod V there, so
// that frequent words are not neighbours, and its row is cut into chunks of
// chunkValues: all rows' first chunks lie together, then all their second ones.

const chunkValues = 32 // a cache line

// chunks is the number of chunks of a row.
func chunks(dim int) int { return (dim + chunkValues - 1) / chunkValues }

// numbers are the words' numbers on the device.
type numbers struct{ vocabulary, successor, predecessor uint32 }

// newNumbers takes a step near the golden section, which keeps neighbours apart,
// that has no divisor in common with the vocabulary's size.
func newNumbers(vocabulary int) numbers {
	step := max(vocabulary*618/1000, 1)
	for divisor(step, vocabulary) > 1 {
		step++
	}
	back := new(big.Int).ModInverse(big.NewInt(int64(step)), big.NewInt(int64(vocabulary)))
	return numbers{uint32(vocabulary), uint32(step), uint32(back.Uint64())}
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

// word is the way back.
func (n numbers) word(number int) int {
	return int(uint64(number) * uint64(n.predecessor) % uint64(n.vocabulary))
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

// send brings a table, (V, N), to the device, as float16 if half is set.
func (n numbers) send(to cu.DevicePtr, table []float32, dim int, half bool) error {
	return cuda.InParts(n.values(dim), chunkValues, cuda.PartValues, func(part []float32, first int) error {
		n.cut(part, first/chunkValues, table, dim)
		if half {
			return cuda.Send(to+cu.DevicePtr(cuda.Bytes[uint16](first)), halves(part))
		}
		return cuda.Send(to+cu.DevicePtr(cuda.Bytes[float32](first)), part)
	})
}

// receive is the way back.
func (n numbers) receive(table []float32, from cu.DevicePtr, dim int, half bool) error {
	var packed []uint16 // as long as the first part, the longest
	return cuda.InParts(n.values(dim), chunkValues, cuda.PartValues, func(part []float32, first int) (err error) {
		if half {
			if packed == nil {
				packed = make([]uint16, len(part))
			}
			packed = packed[:len(part)]
			err = cuda.Receive(packed, from+cu.DevicePtr(cuda.Bytes[uint16](first)))
			floats(part, packed)
		} else {
			err = cuda.Receive(part, from+cu.DevicePtr(cuda.Bytes[float32](first)))
		}
		n.join(table, part, first/chunkValues, dim)
		return err
	})
}

// values is how many a table has on the device.
func (n numbers) values(dim int) int { return chunkValues * chunks(dim) * int(n.vocabulary) }

// cut makes a part of a table, which begins with a cell: a chunk of a row.
func (n numbers) cut(part []float32, cell int, table []float32, dim int) {
	n.each(dim, len(part), cell, func(row, at, values int) {
		copy(part[at:][:values], table[row:])
		clear(part[at+values : at+chunkValues])
	})
}

// join is the way back.
func (n numbers) join(table, part []float32, cell, dim int) {
	n.each(dim, len(part), cell, func(row, at, values int) { copy(table[row:][:values], part[at:]) })
}

// each calls f for every chunk of a part with its place in (V, N) rows, its place in the part and the
// number of its values, from all processors: on one it would take as long as an epoch of training.
func (n numbers) each(dim, values, cell int, f func(row, at, values int)) {
	cuda.Parallel(values/chunkValues, func(first, end int) {
		for i := first; i < end; i++ {
			c, number := (cell+i)/int(n.vocabulary), (cell+i)%int(n.vocabulary)
			f(n.word(number)*dim+c*chunkValues, i*chunkValues, min(chunkValues, dim-c*chunkValues))
		}
	})
}
