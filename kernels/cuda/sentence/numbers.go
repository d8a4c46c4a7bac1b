//go:build gpu

package sentence

import (
	"math/big"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// Rows that many warps change at once lie apart in the device's memory: word w has
// number w·successor mod V there, so that frequent words are not neighbours. A row
// is padded to whole chunks of chunkValues.

const chunkValues = 32 // a cache line

func chunks(dim int) int { return (dim + chunkValues - 1) / chunkValues }

// padded is the number of a row's values there.
func padded(dim int) int { return chunkValues * chunks(dim) }

// A layout is Layout of rows.cuh.
type layout struct{ quads, toNextRow, toNextChunk uint32 }

// layoutOf returns where the rows of a table lie: one behind the other.
func layoutOf(dim int) layout {
	quads := uint32(padded(dim) / 4)
	return layout{quads, quads, chunkValues / 4}
}

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

// placeNumbered places one value of each word, by number.
func placeNumbered[T any](m *cuda.Allocator, what string, n numbers, value func(word int) T) cu.DevicePtr {
	return cuda.PlacedParts(m, what, int(n.vocabulary), func(to []T, first int) {
		n.eachWord(first, len(to), func(i, word int) { to[i] = value(word) })
	})
}

// eachWord calls f for so many numbers from first on, counted from 0, with their words.
func (n numbers) eachWord(first, count int, f func(i, word int)) {
	word := n.word(first)
	for i := range count {
		f(i, word)
		if word += int(n.predecessor); word >= int(n.vocabulary) {
			word -= int(n.vocabulary)
		}
	}
}

// alias turns the columns {accept, other} of the words from first on into {accept, word, other, 0}, with numbers.
func (n numbers) alias(to [][4]uint32, columns []uint32, first int) {
	for i := range to {
		accept, other := columns[2*(first+i)], columns[2*(first+i)+1]
		to[i] = [4]uint32{accept, uint32(n.number(first + i)), uint32(n.number(int(other)))}
	}
}

// send brings a table, (V, N), to the device, as float16 if half is set.
func (n numbers) send(to cu.DevicePtr, table []float32, dim int, half bool) error {
	width := padded(dim)
	if half {
		return cuda.SendParts(to, n.values(dim), width, func(part []uint16, first int) { n.padHalf(part, first/width, table, dim) })
	}
	return cuda.SendParts(to, n.values(dim), width, func(part []float32, first int) { n.pad(part, first/width, table, dim) })
}

// receive is the way back.
func (n numbers) receive(table []float32, from cu.DevicePtr, dim int, half bool) error {
	width := padded(dim)
	if half {
		return cuda.ReceiveParts(from, n.values(dim), width, func(part []uint16, first int) { n.takeHalf(table, part, first/width, dim) })
	}
	return cuda.ReceiveParts(from, n.values(dim), width, func(part []float32, first int) { n.take(table, part, first/width, dim) })
}

// valueBytes is the size of a value of a table, in float16 if half is set.
func valueBytes(half bool) int {
	if half {
		return 2
	}
	return 4
}

// values is how many a table has on the device.
func (n numbers) values(dim int) int { return padded(dim) * int(n.vocabulary) }

// pad makes a part of a table, which begins with the row of a number.
func (n numbers) pad(part []float32, number int, table []float32, dim int) {
	n.each(dim, len(part), number, func(row, at, next int) {
		copy(part[at:][:dim], table[row:])
		clear(part[at+dim : next])
	})
}

// padHalf is pad for a table that the device has in float16.
func (n numbers) padHalf(part []uint16, number int, table []float32, dim int) {
	n.each(dim, len(part), number, func(row, at, next int) {
		halves(part[at:][:dim], table[row:])
		clear(part[at+dim : next])
	})
}

// take is the way back.
func (n numbers) take(table, part []float32, number, dim int) {
	n.each(dim, len(part), number, func(row, at, _ int) { copy(table[row:][:dim], part[at:]) })
}

// takeHalf is the way back of padHalf.
func (n numbers) takeHalf(table []float32, part []uint16, number, dim int) {
	n.each(dim, len(part), number, func(row, at, _ int) { floats(table[row:][:dim], part[at:]) })
}

// each calls f for every row of a part with its place in (V, N) rows, its place in the part and that of the next row.
func (n numbers) each(dim, values, number int, f func(row, at, next int)) {
	width := padded(dim)
	n.eachWord(number, values/width, func(i, word int) { f(word*dim, i*width, (i+1)*width) })
}
