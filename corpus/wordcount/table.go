package wordcount

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A table numbers words from 1 in the order of their first appearance, and counts
// them. It is an open-addressing hash table with linear probing. A word of less
// than 16 bytes lies in its slot, so that counting it touches one cache line. All
// longer words lie one after the other in one byte slice. No token costs an
// allocation.
type table struct {
	slots []slot // a power of two of them, at most 50% of them used
	shift uint   // 64 - log2(len(slots))
	used  int    // slots, and so the highest number

	long     []byte // words of 16 bytes and more
	longEnds []int  // their ends in long, after longEnds[0] = 0

	err    error    // there was no memory to grow; then the table takes no more words
	listed bool     // keep words
	words  []string // by their numbers, after words[0]
}

// A slot holds one word. It is free if the key is zero.
type slot struct {
	key
	count uint64
	id    uint32
	long  uint32 // the word is long[longEnds[long-1]:longEnds[long]]; 0: the key holds it
}

// A key identifies a short word, and nearly always a long one. Words hold neither
// the byte 0x00 nor 0xff: they are UTF-8, and no text holds a NUL.
//
// The key of a word of up to 15 bytes is the word padded with zeros: low has the
// first eight bytes, high the others, the first byte lowest. The key of a longer
// word is its first eight bytes, and its hash value with 0xff as highest byte.
type key struct{ low, high uint64 }

// longestInKey is the longest word, in bytes, that a key holds whole.
const longestInKey = 15

// slotsLog2 is the logarithm, to the base 2, of the slots that hold the given number
// of words.
func slotsLog2(words int) int { return max(bits.Len(uint(words))+1, 4) }

// newTable returns an empty table that holds the given number of words without
// growing.
func newTable(words int) *table {
	log2 := slotsLog2(words)
	return &table{slots: make([]slot, 1<<log2), shift: uint(64 - log2), longEnds: []int{0}}
}

// add counts n more occurrences of the word with key k and returns its number. It
// reads word only if that is longer than longestInKey. After an error (t.err) the
// number may be 0, which is no word.
func (t *table) add(k key, word []byte, n uint64) uint32 {
	mask := uint64(len(t.slots) - 1)
	for i := k.hash() >> t.shift; ; i++ {
		s := &t.slots[i&mask]
		if s.key == k && (s.long == 0 || bytes.Equal(word, t.longWord(s))) {
			s.count += n
			return s.id
		}
		if s.key == (key{}) {
			return t.insert(s, k, word, n)
		}
	}
}

// insert gives a word the next number and the free slot s.
func (t *table) insert(s *slot, k key, word []byte, n uint64) uint32 {
	if len(word) > longestInKey && t.err == nil {
		if t.long, t.err = memory.Grow(t.long, len(word)); t.err == nil {
			t.longEnds, t.err = memory.Grow(t.longEnds, 1)
		}
	}
	if t.err != nil {
		return 0
	}
	t.used++
	id := uint32(t.used)
	*s = slot{key: k, count: n, id: id}
	if len(word) > longestInKey {
		s.long = uint32(len(t.longEnds))
		t.long = append(t.long, word...)
		t.longEnds = append(t.longEnds, len(t.long))
	}
	if t.listed {
		t.words = append(t.words, string(t.appendWord(nil, s)))
	}
	if 2*t.used > len(t.slots) {
		t.grow()
	}
	return id
}

// bytes is the memory of the slots.
func (t *table) bytes() int64 { return int64(len(t.slots)) * slotBytes }

// full reports whether the table has more than so many bytes, or would with the new words that
// a chunk may have.
func (t *table) full(limit int64) bool {
	const perChunk = defaultChunkSize / 8
	return t.bytes() > limit || 2*t.bytes() > limit && 2*(t.used+perChunk) > len(t.slots) || int64(len(t.long)+8*len(t.longEnds)) > limit
}

func (t *table) tokens() (sum int64) {
	for i := range t.slots {
		sum += int64(t.slots[i].count)
	}
	return sum
}

// clear removes all words.
func (t *table) clear() {
	clear(t.slots)
	t.used, t.long, t.longEnds = 0, t.long[:0], append(t.longEnds[:0], 0)
}

// slotBytes is the memory of a slot.
const slotBytes = int64(unsafe.Sizeof(slot{}))

// grow doubles the table, or sets t.err.
func (t *table) grow() {
	old := t.slots
	done, err := memory.Room(2 * int64(len(old)) * slotBytes)
	if err != nil {
		t.err = err
		return
	}
	defer done()
	t.slots = make([]slot, 2*len(old))
	t.shift--
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash() >> t.shift
		for t.slots[i&mask].id != 0 {
			i++
		}
		t.slots[i&mask] = s
	}
}

// longWord returns the long word of a slot. Do not change it.
func (t *table) longWord(s *slot) []byte { return t.long[t.longEnds[s.long-1]:t.longEnds[s.long]] }

// wordLength returns the bytes of the word of a slot in use.
func (t *table) wordLength(s *slot) int {
	switch {
	case s.long != 0:
		return len(t.longWord(s))
	case s.high != 0:
		return 8 + (bits.Len64(s.high)+7)/8
	default:
		return (bits.Len64(s.low) + 7) / 8
	}
}

func (t *table) appendWord(to []byte, s *slot) []byte {
	if s.long != 0 {
		return append(to, t.longWord(s)...)
	}
	length, start := t.wordLength(s), len(to)
	to = binary.LittleEndian.AppendUint64(to, s.low)
	to = binary.LittleEndian.AppendUint64(to, s.high)
	return to[:start+length]
}

// keyOf returns the key of a word.
func keyOf(word []byte) key {
	if len(word) > longestInKey {
		h := key{uint64(len(word)), 0}
		for i := 0; i+8 < len(word); i += 8 {
			h.low = key{h.low, binary.LittleEndian.Uint64(word[i:])}.hash()
		}
		// The last eight bytes may overlap earlier ones.
		h.high = binary.LittleEndian.Uint64(word[len(word)-8:])
		return key{binary.LittleEndian.Uint64(word), h.hash() | 0xff<<56}
	}
	var padded [longestInKey + 1]byte
	copy(padded[:], word)
	return key{binary.LittleEndian.Uint64(padded[:8]), binary.LittleEndian.Uint64(padded[8:])}
}

// hash multiplies to 128 bits and folds, in the way of wyhash: every bit of the
// result depends on every bit of the key.
func (k key) hash() uint64 {
	hi, lo := bits.Mul64(k.low^0xa0761d6478bd642f, k.high^0xe7037ed1a0b428db)
	return hi ^ lo
}
