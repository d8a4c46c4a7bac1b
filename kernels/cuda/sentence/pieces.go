//go:build gpu

package sentence

import "sort"

// pieces are a text whose sentences are cut: each piece is a sentence of it. A unit of composed rows
// is short, and of texts with long sentences it has few of them: uncut, they would leave most of a GPU
// idle. A kernel trains a piece with the words around it, so nothing is lost at a cut.
//
// Bounds of all pieces would be larger than the memory that a long text may take. So they are found
// from those of the sentences, fast for who asks in order.
type pieces struct {
	Text
	tokens int   // of a piece at most
	bases  []int // pieces before each perBase-th sentence
	count  int

	// The sentence that was asked for last:
	at         int
	first, end int // its tokens
	before     int // pieces before it
	pieces     int // of it
}

// perBase is the number of sentences that share a base.
const perBase = 1 << 7

// newPieces cuts the sentences of a text evenly, into pieces of so many tokens at most. It returns
// the first pieces of units, too.
func newPieces(text Text, units []int, tokens int) (p *pieces, unitsOfPieces []int) {
	p = &pieces{Text: text, tokens: tokens}
	next := 0 // unit
	for s := range text.Sentences() {
		p.enter(s, p.count)
		if s%perBase == 0 {
			p.bases = append(p.bases, p.count)
		}
		for ; next < len(units) && units[next] == s; next++ {
			unitsOfPieces = append(unitsOfPieces, p.count)
		}
		p.count += p.pieces
	}
	for ; next < len(units); next++ {
		unitsOfPieces = append(unitsOfPieces, p.count)
	}
	text.GiveBack()
	return p, unitsOfPieces
}

// clone returns the same pieces for another goroutine: each asks its own.
func (p *pieces) clone() *pieces {
	c := &pieces{Text: p.Text, tokens: p.tokens, bases: p.bases, count: p.count}
	c.enter(0, 0)
	return c
}

// enter goes to a sentence, with so many pieces before it. The memory of a file's bounds is given back
// now and then.
func (p *pieces) enter(sentence, before int) {
	const between = 1 << 18
	if sentence%between == 0 {
		p.GiveBack()
	}
	p.at, p.before = sentence, before
	p.first, p.end = p.Text.Start(sentence), p.Text.Start(sentence+1)
	p.pieces = max(1, (p.end-p.first+p.tokens-1)/p.tokens)
}

// seek goes to the sentence of a piece.
func (p *pieces) seek(piece int) {
	if piece < p.before || piece-p.before > perBase {
		base := sort.SearchInts(p.bases, piece+1) - 1
		p.enter(base*perBase, p.bases[base])
	}
	for piece >= p.before+p.pieces {
		p.enter(p.at+1, p.before+p.pieces)
	}
}

// Sentences is the number of pieces.
func (p *pieces) Sentences() int { return p.count }

// Start returns the first token of a piece; behind the last one the number of tokens.
func (p *pieces) Start(piece int) int {
	if piece == p.count {
		return p.Text.Start(p.Text.Sentences())
	}
	p.seek(piece)
	return p.first + (piece-p.before)*(p.end-p.first)/p.pieces
}

// around returns how many tokens of its sentence are before a piece and behind it.
func (p *pieces) around(piece int) [2]uint32 {
	p.seek(piece)
	i, length := piece-p.before, p.end-p.first
	return [2]uint32{uint32(i * length / p.pieces), uint32(length - (i+1)*length/p.pieces)}
}
