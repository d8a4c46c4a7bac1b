package subword

import (
	"encoding/binary"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// classes are n-grams by class: those that the same words have, as often. See gradient.cu.
type classes struct {
	of      []uint32   // the class of each n-gram
	members [][]uint32 // the n-grams of each class
}

// classesOf numbers classes by their first n-grams. An n-gram that no word has is a class of its own.
func classesOf(e Config) classes {
	starts, users := inverted(e)
	c := classes{of: make([]uint32, e.Alphabet)}
	numbers, key := map[string]uint32{}, []byte{}
	for u := range e.Alphabet {
		key = key[:0]
		for _, word := range users[starts[u]:starts[u+1]] {
			key = binary.LittleEndian.AppendUint32(key, word)
		}
		number, known := numbers[string(key)]
		if !known || len(key) == 0 {
			number = uint32(len(c.members))
			numbers[string(key)] = number
			c.members = append(c.members, nil)
		}
		c.of[u] = number
		c.members[number] = append(c.members[number], uint32(u))
	}
	return c
}

// inverted returns, for each n-gram, the words that have it, in order and as
// often as they have it.
func inverted(e Config) (starts, users []uint32) {
	starts, users = make([]uint32, e.Alphabet+1), make([]uint32, len(e.Symbols))
	for _, u := range e.Symbols {
		starts[u+1]++
	}
	for u := range e.Alphabet {
		starts[u+1] += starts[u]
	}
	next := append([]uint32{}, starts...)
	for v, first := range e.Starts[:len(e.Starts)-1] {
		for _, u := range e.Symbols[first:e.Starts[v+1]] {
			users[next[u]] = uint32(v)
			next[u]++
		}
	}
	return starts, users
}

// Classes returns the number of classes that a device has of n-grams: those that the same words have, as
// often, share their moments.
func (c Config) Classes() int { return classesOf(c).count() }

// lists returns the words as lists of classes, each as often as a word has one of its n-grams.
func (c classes) lists(e Config) Config {
	lists := Config{Starts: []uint32{0}, Alphabet: len(c.members)}
	for v, first := range e.Starts[:len(e.Starts)-1] {
		for _, u := range e.Symbols[first:e.Starts[v+1]] {
			if class := c.of[u]; c.members[class][0] == u {
				lists.Symbols = append(lists.Symbols, class)
			}
		}
		lists.Starts = append(lists.Starts, uint32(len(lists.Symbols)))
	}
	return lists
}

func (c classes) count() int { return len(c.members) }

func (c classes) sizes() (sizes []float32) {
	for _, members := range c.members {
		sizes = append(sizes, float32(len(members)))
	}
	return sizes
}

// sums returns the sum of the rows of each class.
func (c classes) sums(rows []float32, columns int) []float32 {
	sums := make([]float32, c.count()*columns)
	c.each(func(class int) {
		to := sums[class*columns:][:columns]
		for _, u := range c.members[class] {
			for i, x := range rows[int(u)*columns:][:columns] {
				to[i] += x
			}
		}
	})
	return sums
}

func (c classes) each(f func(class int)) {
	cuda.Parallel(c.count(), func(first, end int) {
		for class := first; class < end; class++ {
			f(class)
		}
	})
}

// spread turns rows as they were at first into those of classes that have the given sums and decays.
func (c classes) spread(rows, sums, decays []float32, columns int) {
	before := c.sums(rows, columns)
	c.each(func(class int) {
		decay, size := decays[class], float32(len(c.members[class]))
		sum, old := sums[class*columns:][:columns], before[class*columns:][:columns]
		for _, u := range c.members[class] {
			for i := range columns {
				x := &rows[int(u)*columns+i]
				if *x = decay**x + (sum[i]-decay*old[i])/size; size == 1 {
					*x = sum[i]
				}
			}
		}
	})
}
