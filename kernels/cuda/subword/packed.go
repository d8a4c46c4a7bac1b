package subword

import (
	"cmp"
	"slices"
)

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
