package corpus

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// A block is a piece of text of one file, cut between tokens. Every file's text
// ends with a line feed, added if need be.
type block struct {
	number int    // from 0 on, over all files
	text   []byte // capacity at least padding bytes more
}

// padding is the number of bytes behind a block's text that may be read,
// whatever they hold: the encoder loads up to 16 bytes of a token at once.
const padding = 16

// An encodedBlock is a block as numbers of one encoder's table, 0 for a line
// end: 16 bits for a number below escape, otherwise escape and its two halves,
// the low one first. Numbers are given in the order of first appearance, so
// nearly all are small, and the encoded text takes two bytes a token.
type encodedBlock struct {
	number int
	lines  int // line ends
	codes  []uint16
}

const escape = 0xffff

// An encoder is one worker's share of the reading: it splits blocks into
// tokens, and numbers and counts them in its own table.
type encoder struct {
	tokenizer Tokenizer
	lowercase bool
	maxToken  int

	table  *table
	blocks []encodedBlock

	invalidUTF8 int64 // bytes
	longTokens  int64

	lines int      // of the current block
	codes []uint16 // of the current block
	token []byte   // the current token as it is counted, if not as it is in the text
}

// encode adds a block. It may change the text.
func (e *encoder) encode(b block) {
	if e.lowercase {
		lowerASCII(b.text)
	}
	e.codes, e.lines = e.codes[:0], 0
	if e.tokenizer == Words {
		e.encodeWords(b.text)
	} else {
		e.encodeFields(b.text)
	}
	e.blocks = append(e.blocks, encodedBlock{b.number, e.lines, slices.Clone(e.codes)})
}

// encodeFields splits at white space. The ASCII bytes of a token are looked at
// eight at a time.
func (e *encoder) encodeFields(text []byte) {
	padded := text[:len(text)+padding]
	for start := 0; start < len(text); {
		var k key
		k.low = binary.LittleEndian.Uint64(padded[start:])
		stop := stops(k.low)
		end := start + bits.TrailingZeros64(stop)/8 // 64/8 if there is none
		if stop != 0 {
			k.low = before(k.low, stop)
		} else {
			k.high = binary.LittleEndian.Uint64(padded[end:])
			if stop = stops(k.high); stop == 0 {
				start = e.encodeLongField(text, start)
				continue
			}
			k.high = before(k.high, stop)
			end += bits.TrailingZeros64(stop) / 8
		}
		c := padded[end]
		if !asciiSpace[c] {
			start = e.encodeUnicodeField(text, start)
			continue
		}
		if end > start {
			e.write(e.table.add(k, nil, 1))
		}
		if c == '\n' {
			e.lineEnd()
		}
		start = end + 1
	}
}

// encodeLongField encodes the token at text[start], of which the first 16 bytes
// are plain ASCII, and returns its end.
func (e *encoder) encodeLongField(text []byte, start int) int {
	padded := text[:len(text)+padding]
	for i := start + 16; i < len(text); i += 8 {
		stop := stops(binary.LittleEndian.Uint64(padded[i:]))
		if stop == 0 {
			continue
		}
		end := i + bits.TrailingZeros64(stop)/8
		if !asciiSpace[padded[end]] {
			break
		}
		e.add(text[start:end])
		return end
	}
	return e.encodeUnicodeField(text, start)
}

// encodeUnicodeField encodes the token at text[start], whatever bytes it has,
// and returns its end. If there is a space character at text[start], it skips
// that.
func (e *encoder) encodeUnicodeField(text []byte, start int) int {
	if r, size := utf8.DecodeRune(text[start:]); isSpace(r) {
		return start + size
	}
	end, _ := Whitespace.tokenEnd(text, start)
	e.add(text[start:end])
	return end
}

// encodeWords takes runs of letters, marks and digits.
func (e *encoder) encodeWords(text []byte) {
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			e.lineEnd()
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case isWordRune(r):
			end, _ := Words.tokenEnd(text, i)
			e.add(text[i:end])
			i = end
			continue
		case r == utf8.RuneError && size == 1:
			e.invalidUTF8++
		}
		i += size
	}
}

// add adds a token in which ASCII letters are in lower case already, if they
// are to be.
func (e *encoder) add(token []byte) {
	if len(token) > e.maxToken {
		e.invalidUTF8 += invalidBytes(token)
		e.longTokens++
		return
	}
	if !isASCII(token) && !e.normal(token) {
		token = e.normalize(token)
	}
	e.write(e.table.add(keyOf(token), token, 1))
}

// normal reports whether the token surely is in the form in which it is counted.
func (e *encoder) normal(token []byte) bool {
	return !e.lowercase && e.tokenizer == Whitespace && utf8.Valid(token)
}

// normalize returns the token in the form in which it is counted: valid UTF-8,
// in lower case if that is asked for, with ASCII apostrophes in words. The result
// is valid until the next call.
func (e *encoder) normalize(token []byte) []byte {
	e.token = e.token[:0]
	for i := 0; i < len(token); {
		r, size := utf8.DecodeRune(token[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			e.invalidUTF8++
		case e.tokenizer == Words && r == typographicApostrophe:
			r = '\''
		case e.lowercase:
			r = toLower(r)
		}
		e.token = utf8.AppendRune(e.token, r)
		i += size
	}
	return e.token
}

// write writes down the number of a word of the table.
func (e *encoder) write(id uint32) {
	if id < escape {
		e.codes = append(e.codes, uint16(id))
	} else {
		e.codes = append(e.codes, escape, uint16(id), uint16(id>>16))
	}
}

// lineEnd writes down the end of a line.
func (e *encoder) lineEnd() {
	e.codes = append(e.codes, 0)
	e.lines++
}

// stops marks, by its highest bit, each of eight bytes that may end a run of
// plain ASCII: space and control characters, and bytes from 0x80 on.
func stops(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// Adding to seven bits cannot carry into the next byte.
	aboveSpace := word&^high + ones*(0x80-0x21)
	return (word | ^aboveSpace) & high
}

// before returns the bytes of the word before the first stop; the others are
// zero.
func before(word, stop uint64) uint64 {
	return word & (stop&-stop>>7 - 1)
}

// lowerASCII changes A-Z to a-z.
func lowerASCII(text []byte) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for len(text) >= 8 {
		word := binary.LittleEndian.Uint64(text)
		low := word &^ high
		fromA := low + ones*(0x80-'A')
		aboveZ := low + ones*(0x80-'Z'-1)
		upper := fromA &^ aboveZ &^ word & high
		binary.LittleEndian.PutUint64(text, word|upper>>2)
		text = text[8:]
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c | 0x20
		}
	}
}

// invalidBytes returns how many bytes of the text are not part of valid UTF-8.
func invalidBytes(text []byte) (n int64) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			n++
		}
		text = text[size:]
	}
	return n
}
