package wordcount

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A chunk is a part of one file's text, cut between tokens. The last chunk of a
// file ends with a line feed, which the cutter adds if the file has none.
type chunk struct {
	number int    // counted from 0 over all files
	text   []byte // its capacity is larger by padding or more
}

// padding is the number of bytes after a chunk's text that may be read, whatever
// they hold: the encoder loads up to 16 bytes of a token at once.
const padding = 16

// An encodedChunk is a chunk as numbers of one encoder's table, 0 for a line end.
// A number below escape takes 16 bits. Any other is escape, then its low and its
// high 16 bits. Words are numbered in the order of first appearance, so nearly all
// numbers are small, and the encoded text takes two bytes a token.
type encodedChunk struct {
	number int
	table  int // of words, that the codes are numbers of
	lines  int // line ends
	codes  []uint16

	// If the codes are on the disk, where, and how many. Otherwise length is 0.
	offset int64
	length int
}

const escape = 0xffff

// An encoder belongs to one worker. It splits chunks into tokens, and numbers and
// counts these in its own table.
type encoder struct {
	tokenizer Tokenizer
	lowercase bool
	maxToken  int

	disk          *disk
	number        int // of the table
	table         *table
	spilledTokens int64 // of the tables before it
	spilling      [partitions][]byte

	chunks []encodedChunk
	meter  memory.Meter // of the chunks

	invalidUTF8 int64 // bytes
	longTokens  int64

	lines int      // of the current chunk
	codes []uint16 // of the current chunk
	token []byte   // the normalized form of the current token, if the text has another
}

func newEncoder(o Options, d *disk) *encoder {
	e := &encoder{tokenizer: o.Tokenizer, lowercase: o.Lowercase, maxToken: o.MaxToken, disk: d, table: newTable(1 << 9)}
	if d != nil {
		e.number = d.newTable()
	}
	return e
}

// encode adds a chunk. It may change the text.
func (e *encoder) encode(c chunk) {
	if e.lowercase {
		lowerASCII(c.text)
	}
	e.codes, e.lines = e.codes[:0], 0
	if e.tokenizer == Words {
		e.encodeWords(c.text)
	} else {
		e.encodeFields(c.text)
	}
	e.chunks = append(e.chunks, encodedChunk{number: c.number, table: e.number, lines: e.lines, codes: slices.Clone(e.codes)})
	if err := e.meter.Take(int64(len(e.codes)) * 2); e.table.err == nil {
		e.table.err = err
	}
}

// encodeFields splits at white space. It looks at eight ASCII bytes of a token at
// a time.
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

// encodeLongField encodes the token at text[start], whose first 16 bytes are plain
// ASCII, and returns its end.
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

// encodeUnicodeField encodes the token at text[start], of any bytes, and returns
// its end. It skips a space character at text[start].
func (e *encoder) encodeUnicodeField(text []byte, start int) int {
	if r, size := utf8.DecodeRune(text[start:]); isSpace(r) {
		return start + size
	}
	end, _ := Whitespace.tokenEnd(text, start)
	e.add(text[start:end])
	return end
}

// encodeWords splits at everything but letters, marks and digits.
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

// add counts a token. The caller has mapped ASCII letters to lower case if the
// options ask for it.
func (e *encoder) add(token []byte) {
	if len(token) > e.maxToken {
		e.invalidUTF8 += invalidBytes(token)
		e.longTokens++
		return
	}
	if !textfile.IsASCII(token) && !e.normal(token) {
		token = e.normalize(token)
	}
	e.write(e.table.add(keyOf(token), token, 1))
}

// normal reports whether normalize would surely return the token unchanged.
func (e *encoder) normal(token []byte) bool {
	return !e.lowercase && e.tokenizer == Whitespace && utf8.Valid(token)
}

// normalize returns the form of a token that is counted: valid UTF-8, in lower
// case if the options ask for it, with ASCII apostrophes under Words. The result is
// valid until the next call.
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

// write appends the number of a word of the table.
func (e *encoder) write(id uint32) {
	if id < escape {
		e.codes = append(e.codes, uint16(id))
	} else {
		e.codes = append(e.codes, escape, uint16(id), uint16(id>>16))
	}
}

// lineEnd appends the end of a line.
func (e *encoder) lineEnd() {
	e.codes = append(e.codes, 0)
	e.lines++
}

// stops sets the highest bit of each of eight bytes that may end a run of plain
// ASCII: space, control characters, and bytes from 0x80 up.
func stops(eight uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// Adding to seven bits cannot carry into the next byte.
	aboveSpace := eight&^high + ones*(0x80-0x21)
	return (eight | ^aboveSpace) & high
}

// before keeps the bytes before the first stop and zeroes the others.
func before(eight, stop uint64) uint64 {
	return eight & (stop&-stop>>7 - 1)
}

// lowerASCII changes A-Z to a-z.
func lowerASCII(text []byte) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for len(text) >= 8 {
		eight := binary.LittleEndian.Uint64(text)
		low := eight &^ high
		fromA := low + ones*(0x80-'A')
		aboveZ := low + ones*(0x80-'Z'-1)
		upper := fromA &^ aboveZ &^ eight & high
		binary.LittleEndian.PutUint64(text, eight|upper>>2)
		text = text[8:]
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c | 0x20
		}
	}
}

// invalidBytes counts the bytes of the text that are not part of valid UTF-8.
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
