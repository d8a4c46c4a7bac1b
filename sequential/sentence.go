package sequential

// A sentence is a sentence of the text after subsampling.
type sentence struct {
	first  int // its first token's place in the text
	words  []uint32
	inputs []uint32 // rows of W of the words
	widths []uint32 // of each word's dynamic window: words on either side
}

// window appends the rows of W of the context words of the window around word i, from left
// to right: all words at most widths[i] away, but not word i itself.
func (s *sentence) window(to []uint32, i int) []uint32 {
	w := int(s.widths[i])
	to = append(to, s.inputs[max(i-w, 0):i]...)
	return append(to, s.inputs[i+1:min(i+w+1, len(s.inputs))]...)
}
