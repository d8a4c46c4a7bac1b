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

// numbers say where the rows of a table lie: one behind the other or, if spread, the first chunks of all rows, then their second
// chunks and so on. Spread, the row of a frequent word, for which many warps wait, is in several parts of L2. In one piece, a row
// comes faster from the memory behind L2.
type numbers struct {
	vocabulary, successor, predecessor uint32
	spread                             bool
}

// mostSpread is the largest vocabulary whose tables are spread (benchmarks/speed-gpu).
const mostSpread = 1 << 18

// A layout is Layout of rows.cuh.
type layout struct{ quads, toNextRow, toNextChunk uint32 }

func (n numbers) layout(dim int) layout {
	quads := uint32(padded(dim) / 4)
	if n.spread {
		return layout{quads, chunkValues / 4, chunkValues / 4 * n.vocabulary}
	}
	return layout{quads, quads, chunkValues / 4}
}

// width is how many values of a row lie together.
func (n numbers) width(dim int) int { return 4 * int(n.layout(dim).toNextRow) }

// newNumbers takes a step near the golden section, which keeps neighbours apart,
// that has no divisor in common with the vocabulary's size.
func newNumbers(vocabulary int) numbers {
	for step := max(vocabulary*618/1000, 1); ; step++ {
		if back := new(big.Int).ModInverse(big.NewInt(int64(step)), big.NewInt(int64(vocabulary))); back != nil {
			return numbers{vocabulary: uint32(vocabulary), successor: uint32(step), predecessor: uint32(back.Uint64())}
		}
	}
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
	if half {
		return cuda.SendParts(to, n.values(dim), n.width(dim), func(part []uint16, first int) { pad(n, part, first, table, dim, halves) })
	}
	return cuda.SendParts(to, n.values(dim), n.width(dim), func(part []float32, first int) { pad(n, part, first, table, dim, copied) })
}

// receive is the way back.
func (n numbers) receive(table []float32, from cu.DevicePtr, dim int, half bool) error {
	if half {
		return cuda.ReceiveParts(from, n.values(dim), n.width(dim), func(part []uint16, first int) { take(n, table, part, first, dim, floats) })
	}
	return cuda.ReceiveParts(from, n.values(dim), n.width(dim), func(part []float32, first int) { take(n, table, part, first, dim, copied) })
}

func copied(to, values []float32) { copy(to, values) }

// valueBytes is the size of a value of a table, in float16 if half is set.
func valueBytes(half bool) int {
	if half {
		return 2
	}
	return 4
}

// values is how many a table has on the device.
func (n numbers) values(dim int) int { return padded(dim) * int(n.vocabulary) }

// pad makes a part of a table, which begins with value first there, in the device's form.
func pad[T any](n numbers, part []T, first int, table []float32, dim int, convert func(to []T, values []float32)) {
	n.each(dim, len(part), first, func(row, used, at, next int) {
		convert(part[at:][:used], table[row:])
		clear(part[at+used : next])
	})
}

// take is the way back.
func take[T any](n numbers, table []float32, part []T, first, dim int, convert func(to []float32, values []T)) {
	n.each(dim, len(part), first, func(row, used, at, _ int) { convert(table[row:][:used], part[at:]) })
}

// each calls f for what lies together in a part, of one row after the other, with its place in (V, N) rows, how many values it has
// there, its place in the part and that of the next.
func (n numbers) each(dim, values, first int, f func(row, used, at, next int)) {
	width, words := n.width(dim), int(n.vocabulary)
	for at := 0; at < values; {
		number, column := (first+at)/width%words, (first+at)/width/words*width
		count := min((values-at)/width, words-number)
		n.eachWord(number, count, func(i, word int) { f(word*dim+column, min(width, dim-column), at+i*width, at+(i+1)*width) })
		at += count * width
	}
}
