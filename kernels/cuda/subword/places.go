package subword

import "math/bits"

// pieceUses is how many places of a symbol a thread block of lists.cu sums at most.
const pieceUses = 256

const whole = 0xffffffff // the slot of a piece that is all of a symbol

// A use is where a symbol stands: in a spelling, and its place there.
type use struct{ spelling, place uint32 }

func useOf(spelling, place uint32) use { return use{spelling, place} }

// A piece is Piece of lists.cu: some of the uses of a symbol, and where their sum goes.
type piece struct{ symbol, first, last, slot uint32 }

// A split is Split of lists.cu: a symbol of several pieces, and their slots.
type split struct{ symbol, first, last, _ uint32 }

// piecesOf cuts the uses of symbols, of which symbol s has those from starts[s] to starts[s+1], into pieces: first those of
// symbols with several, which are long. A symbol without a use has none.
func piecesOf(starts []uint32) (pieces []piece, splits []split) {
	var short []piece
	for s, first := range starts[:len(starts)-1] {
		last := starts[s+1]
		switch {
		case first == last:
		case last-first <= pieceUses:
			short = append(short, piece{uint32(s), first, last, whole})
		default:
			slot := uint32(len(pieces))
			for ; first < last; first += pieceUses {
				pieces = append(pieces, piece{uint32(s), first, min(first+pieceUses, last), uint32(len(pieces))})
			}
			splits = append(splits, split{symbol: uint32(s), first: slot, last: uint32(len(pieces))})
		}
	}
	return append(pieces, short...), splits
}

// unitsOf returns a power of 2 for each symbol: about the root of how often it stands in words.
func unitsOf(starts []uint32) (units []float32) {
	for s, first := range starts[:len(starts)-1] {
		units = append(units, float32(uint32(1)<<(bits.Len32((starts[s+1]-first)/2)/2)))
	}
	return units
}

// ListBytes is the memory that tables of a large alphabet take, and what is around them: what the lists add to a Structure.
func (c Structure) ListBytes() int64 {
	a, t, symbols := int64(c.Alphabet), int64(c.TableColumns()), int64(len(c.Symbols))
	const chunks = 16 // of the gradient of filters
	slots := 2 * symbols / pieceUses
	return 6*a*t + 4*slots*t + 4*chunks*int64(c.CharDim+1)*t + 8*symbols + 16*(a+slots) + 4*int64(c.CharDim+8)*(a+t)
}
