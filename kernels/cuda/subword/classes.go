package subword

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// ClassesOf numbers the classes of n-grams, by their first ones: those that the same words have, as often. They
// would get the same gradient in every step. It returns the class of each n-gram, and how many each class has. An
// n-gram that no word has is a class of its own.
func ClassesOf(e Structure) (classes, sizes []uint32) {
	starts, users := inverted(e, wordOf)
	numbers, key := map[string]uint32{}, []byte{}
	for u := range e.Alphabet {
		key = key[:0]
		for _, word := range users[starts[u]:starts[u+1]] {
			key = binary.LittleEndian.AppendUint32(key, word)
		}
		number, known := numbers[string(key)]
		if !known || len(key) == 0 {
			number = uint32(len(sizes))
			numbers[string(key)] = number
			sizes = append(sizes, 0)
		}
		classes = append(classes, number)
		sizes[number]++
	}
	return classes, sizes
}

// A use is where a symbol stands: in a spelling, and its place there.
type use struct{ spelling, place uint32 }

func useOf(spelling, place uint32) use { return use{spelling, place} }

func wordOf(word, _ uint32) uint32 { return word }

// inverted returns, for each symbol or n-gram, the words that have it, in order and as
// often as they have it: what of returns of the word and the place there.
func inverted[T any](e Structure, of func(word, place uint32) T) (starts []uint32, users []T) {
	starts, users = make([]uint32, e.Alphabet+1), make([]T, len(e.Symbols))
	for _, u := range e.Symbols {
		starts[u+1]++
	}
	for u := range e.Alphabet {
		starts[u+1] += starts[u]
	}
	next := append([]uint32{}, starts...)
	for v, first := range e.Starts[:len(e.Starts)-1] {
		for place, u := range e.Symbols[first:e.Starts[v+1]] {
			users[next[u]] = of(uint32(v), uint32(place))
			next[u]++
		}
	}
	return starts, users
}

// size returns how many n-grams have a row.
func (c Structure) size(row uint32) uint32 {
	if c.Sizes == nil {
		return 1
	}
	return c.Sizes[row]
}

// Folded has a row in a word once for all n-grams that have it.
func (c Structure) Folded() Structure {
	f := c
	f.Starts, f.Symbols = []uint32{0}, nil
	seen := make([]uint32, c.Alphabet) // in a word
	for v, first := range c.Starts[:len(c.Starts)-1] {
		word := c.Symbols[first:c.Starts[v+1]]
		for _, u := range word {
			if seen[u]%c.size(u) == 0 {
				f.Symbols = append(f.Symbols, u)
			}
			seen[u]++
		}
		for _, u := range word {
			seen[u] = 0
		}
		f.Starts = append(f.Starts, uint32(len(f.Symbols)))
	}
	return f
}

const packedSymbols = 32 // of a word at most, in eight numbers

// longest is the most symbols of a word.
func (c Structure) longest() (most int) {
	for v, first := range c.Starts[:len(c.Starts)-1] {
		most = max(most, int(c.Starts[v+1]-first))
	}
	return most
}

// packed returns the symbols of all words as bytes, in eight numbers each, the first in the lowest byte, and of each its
// number and how many it has: the longest first. Behind them are two numbers more, which kernels read in advance.
func (c Structure) packed() (words []uint32, places [][2]uint32) {
	for v, first := range c.Starts[:len(c.Starts)-1] {
		places = append(places, [2]uint32{uint32(v), c.Starts[v+1] - first})
	}
	slices.SortStableFunc(places, func(a, b [2]uint32) int { return cmp.Compare(b[1], a[1]) })
	words = make([]uint32, 8*len(places)+2)
	for i, place := range places {
		for t, symbol := range c.Symbols[c.Starts[place[0]]:][:place[1]] {
			words[8*i+t/4] |= symbol << (8 * (t % 4))
		}
	}
	return words, places
}
