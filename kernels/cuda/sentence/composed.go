package sentence

// A Composition says how the rows of W are composed of the rows of parts and of words' own rows,
// and how their changes go there: see sequential/composed, which has the formulas.
type Composition struct {
	Parts           int      // U
	Starts, Symbols []uint32 // word w has the parts Symbols[Starts[w]:Starts[w+1]]
	Sizes           []uint32 // (U), how many n-grams a part stands for; nil: one
	Own             bool     // words have rows of their own
	Rate            float32
	Undamped        func(rate float32, threads int) float32
	Block           int // tokens of the sentences whose words are composed together, at least, in a unit; 0: the unit's
}

// ComposedBytes estimates the device's memory of a composition, beside that of the mode.
func ComposedBytes(words, parts, symbols, dim int, own bool) int64 {
	row := 4 * int64((dim+31)/32) * 32
	tables := int64(words) + int64(parts)
	if own {
		tables += int64(words)
	}
	return tables*row + 8*int64(symbols) + 4*int64(parts) + 12*int64(words)
}
