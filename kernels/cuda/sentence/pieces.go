//go:build gpu

package sentence

// pieces are a text whose sentences are cut: each piece is a sentence of it. A unit of composed rows
// is short, and of texts with long sentences it has few of them: uncut, they would leave most of a GPU
// idle. A kernel trains a piece with the words around it, so nothing is lost at a cut.
type pieces struct {
	Text
	starts  []int       // first token of each piece, and the end
	around  [][2]uint32 // tokens of its sentence before and behind it
	longest int         // sentence
}

// newPieces cuts the sentences of a text evenly, into pieces of so many tokens at most. It returns
// the first pieces of units, too.
func newPieces(text Text, units []int, tokens int) (p *pieces, unitsOfPieces []int) {
	p = &pieces{Text: text, longest: 1}
	next := 0 // unit
	for s := range text.Sentences() {
		for ; next < len(units) && units[next] == s; next++ {
			unitsOfPieces = append(unitsOfPieces, len(p.starts))
		}
		first, end := text.Start(s), text.Start(s+1)
		length := end - first
		p.longest = max(p.longest, length)
		count := max(1, (length+tokens-1)/tokens)
		for i := range count {
			from, to := first+i*length/count, first+(i+1)*length/count
			p.starts = append(p.starts, from)
			p.around = append(p.around, [2]uint32{uint32(from - first), uint32(end - to)})
		}
	}
	for ; next < len(units); next++ {
		unitsOfPieces = append(unitsOfPieces, len(p.starts))
	}
	p.starts = append(p.starts, text.Start(text.Sentences()))
	return p, unitsOfPieces
}

// Sentences is the number of pieces.
func (p *pieces) Sentences() int { return len(p.around) }

// Start returns the first token of a piece.
func (p *pieces) Start(piece int) int { return p.starts[piece] }
