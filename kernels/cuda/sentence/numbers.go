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
	cuda.Parallel(len(values), func(first, end int) {
		for w := first; w < end; w++ {
			to[n.number(w)] = values[w]
		}
	})
	return to
}

// alias turns columns {accept, other} into {accept, word, other, 0}, with numbers.
func (n numbers) alias(columns []uint32) []uint32 {
	to := make([]uint32, 2*len(columns))
	cuda.Parallel(len(columns)/2, func(first, end int) {
		for w := first; w < end; w++ {
			column := columns[2*w:]
			to[4*w], to[4*w+1], to[4*w+2] = column[0], uint32(n.number(w)), uint32(n.number(int(column[1])))
		}
	})
	return to
}

// send brings a table, (V, N), to the device, as float16 if half is set.
func (n numbers) send(to cu.DevicePtr, table []float32, dim int, half bool) error {
	if half {
		return cuda.SendParts(to, n.values(dim), chunkValues, func(part []uint16, first int) { n.cutHalf(part, first/chunkValues, table, dim) })
	}
	return cuda.SendParts(to, n.values(dim), chunkValues, func(part []float32, first int) { n.cut(part, first/chunkValues, table, dim) })
}

// receive is the way back.
func (n numbers) receive(table []float32, from cu.DevicePtr, dim int, half bool) error {
	if half {
		return cuda.ReceiveParts(from, n.values(dim), chunkValues, func(part []uint16, first int) { n.joinHalf(table, part, first/chunkValues, dim) })
	}
	return cuda.ReceiveParts(from, n.values(dim), chunkValues, func(part []float32, first int) { n.join(table, part, first/chunkValues, dim) })
}

// valueBytes is the size of a value of a table, in float16 if half is set.
func valueBytes(half bool) int {
	if half {
		return 2
	}
	return 4
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

// cutHalf is cut for a table that the device has in float16.
func (n numbers) cutHalf(part []uint16, cell int, table []float32, dim int) {
	n.each(dim, len(part), cell, func(row, at, values int) {
		halves(part[at:][:values], table[row:])
		clear(part[at+values : at+chunkValues])
	})
}

// join is the way back.
func (n numbers) join(table, part []float32, cell, dim int) {
	n.each(dim, len(part), cell, func(row, at, values int) { copy(table[row:][:values], part[at:]) })
}

// joinHalf is the way back of cutHalf.
func (n numbers) joinHalf(table []float32, part []uint16, cell, dim int) {
	n.each(dim, len(part), cell, func(row, at, values int) { floats(table[row:][:values], part[at:]) })
}

// each calls f for every chunk of a part with its place in (V, N) rows, its place in the part and the
// number of its values.
func (n numbers) each(dim, values, cell int, f func(row, at, values int)) {
	for at := 0; at < values; {
		c, number := (cell+at/chunkValues)/int(n.vocabulary), (cell+at/chunkValues)%int(n.vocabulary)
		used := min(chunkValues, dim-c*chunkValues)
		for word := n.word(number); at < values && number < int(n.vocabulary); at, number = at+chunkValues, number+1 {
			f(word*dim+c*chunkValues, at, used)
			if word += int(n.predecessor); word >= int(n.vocabulary) {
				word -= int(n.vocabulary)
			}
		}
	}
}
