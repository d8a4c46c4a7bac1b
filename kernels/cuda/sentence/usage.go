//go:build gpu

package sentence

// partsByNumber lists the parts of all words in the order of the numbers that number returns: word w has
// symbols[starts[w]:starts[w+1]].
func (c *Composition) partsByNumber(number func(word int) int) (starts, symbols []uint32) {
	v := len(c.Starts) - 1
	words := make([]int, v) // by number
	for w := range v {
		words[number(w)] = w
	}
	starts = make([]uint32, 1, v+1)
	symbols = make([]uint32, 0, len(c.Symbols))
	for _, w := range words {
		symbols = append(symbols, c.Symbols[c.Starts[w]:c.Starts[w+1]]...)
		starts = append(starts, uint32(len(symbols)))
	}
	return starts, symbols
}

// sizes lists how many n-grams each of some parts stands for.
func (c *Composition) sizes(parts []uint32) []float32 {
	sizes := make([]float32, len(parts))
	for i, g := range parts {
		if sizes[i] = 1; c.Sizes != nil {
			sizes[i] = float32(c.Sizes[g])
		}
	}
	return sizes
}
