package fasttext

// A Shape says which n-grams words have, and how many rows they are hashed to.
// The zero Shape is that of words without n-grams.
type Shape struct {
	Shortest, Longest int // characters of an n-gram, the marks < and > among them; Longest 0: no n-grams
	Buckets           int // rows of n-grams
}

// endOfSentence is the word that fastText puts behind each line. It has no n-grams.
const endOfSentence = "</s>"

// NGrams appends to dst the bucket of each n-gram of a word, in fastText's order.
// A word that is no valid UTF-8 is cut where fastText cuts it.
func (s Shape) NGrams(dst []uint32, word string) []uint32 {
	if s.Buckets < 1 || word == endOfSentence {
		return dst
	}
	text := "<" + word + ">"
	for i := range len(text) {
		if continues(text[i]) {
			continue
		}
		h := uint32(offsetBasis)
		for j, n := i, 1; j < len(text) && n <= s.Longest; n++ {
			for first := true; j < len(text) && (first || continues(text[j])); first = false {
				h = mix(h, text[j])
				j++
			}
			if n >= s.Shortest && (n > 1 || i > 0 && j < len(text)) { // a mark alone is none
				dst = append(dst, h%uint32(s.Buckets))
			}
		}
	}
	return dst
}

// continues reports whether a byte is the second or a later one of a character.
func continues(b byte) bool { return b&0xC0 == 0x80 }

// FNV-1a of 32 bits. fastText takes bytes as signed numbers, so those above 127
// change all bits.
const (
	offsetBasis = 2166136261
	prime       = 16777619
)

func mix(h uint32, b byte) uint32 { return (h ^ uint32(int32(int8(b)))) * prime }
