//go:build gpu

package sentence

import "slices"

// manyWords is from how many words on a part has a thread block of its own.
const manyWords = 64

// A usage is the words of all parts, by their numbers on the device.
type usage struct {
	starts, symbols []uint32 // of words by these numbers
	firsts, users   []uint32 // part g has the words users[firsts[g]:firsts[g+1]]
	order           []uint32 // parts, those of many words ahead
	frequent        int      // parts of manyWords or more
}

// usage orders the words by the numbers that number returns.
func (c *Composition) usage(number func(word int) int) usage {
	v := len(c.Starts) - 1
	words := make([]int, v) // by number
	for w := range v {
		words[number(w)] = w
	}
	u := usage{starts: make([]uint32, 1, v+1), firsts: make([]uint32, c.Parts+1), users: make([]uint32, len(c.Symbols))}
	for _, w := range words {
		u.symbols = append(u.symbols, c.Symbols[c.Starts[w]:c.Starts[w+1]]...)
		u.starts = append(u.starts, uint32(len(u.symbols)))
	}
	for _, g := range c.Symbols {
		u.firsts[g+1]++
	}
	for g := range c.Parts {
		u.order = append(u.order, uint32(g))
	}
	count := func(g uint32) int { return int(u.firsts[g+1]) }
	slices.SortStableFunc(u.order, func(a, b uint32) int { return count(b) - count(a) })
	u.frequent, _ = slices.BinarySearchFunc(u.order, manyWords, func(g uint32, many int) int {
		if count(g) >= many {
			return -1
		}
		return 1
	})
	for g := range c.Parts {
		u.firsts[g+1] += u.firsts[g]
	}
	next := slices.Clone(u.firsts)
	for w := range v {
		for _, g := range u.symbols[u.starts[w]:u.starts[w+1]] {
			u.users[next[g]] = uint32(w)
			next[g]++
		}
	}
	return u
}
