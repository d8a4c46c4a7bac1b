package sentence

import "github.com/w2vcl/w2vcl/kernels/composed"

// ComposedBytes estimates the device's memory of a composition, beside that of the mode.
func ComposedBytes(x *composed.Composition) int64 {
	row, words, parts := 4*int64((x.Dim+31)/32)*32, int64(x.Words()), int64(x.PartCount())
	tables := words + parts
	if x.Own != nil {
		tables += words
	}
	return tables*row + 8*int64(len(x.Symbols)) + 4*parts + 12*words
}

// partsByNumber lists the parts of all words in the order of the numbers that number returns: word w has
// symbols[starts[w]:starts[w+1]].
func partsByNumber(x *composed.Composition, number func(word int) int) (starts, symbols []uint32) {
	words := make([]uint32, x.Words()) // by number
	for w := range words {
		words[number(w)] = uint32(w)
	}
	starts = make([]uint32, 1, len(words)+1)
	symbols = make([]uint32, 0, len(x.Symbols))
	for _, w := range words {
		symbols = append(symbols, x.Of(w)...)
		starts = append(starts, uint32(len(symbols)))
	}
	return starts, symbols
}

// sizesOf lists how many n-grams each of some parts stands for.
func sizesOf(x *composed.Composition, parts []uint32) []float32 {
	sizes := make([]float32, len(parts))
	for i, g := range parts {
		sizes[i] = x.Size(g)
	}
	return sizes
}
