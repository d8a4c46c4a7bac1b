package subword

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// The marks of a word's beginning and end. They are bytes that no UTF-8 text holds, so a word with < or > in it is not
// mistaken for them.
const (
	beginMark = "\xfe"
	endMark   = "\xff"
)

// Symbols that stand for no text: padding, and for each length of symbols one for what is too rare to have a symbol of
// its own. The others follow.
const (
	padding = 0 // behind a word that is shorter than a filter
	unknown = 1 // of the first length
	known   = 2 // the first of the others if there is one length
)

// SpellingOptions says how words become symbols. The zero value of a field means its default.
type SpellingOptions struct {
	Gram     []int // characters of symbols, ascending; default 1. Several: a word is spelt once in each length
	Limit    int   // L, most symbols of a spelling, its marks among them; default 16
	MinCount int   // vocabulary words that must hold a symbol; default 2; rarer ones are one unknown symbol
	Buckets  int   `json:",omitempty"` // of a length that has more symbols, they are hashed to so many; 0: none are
	Hashed   []int `json:",omitempty"` // lengths whose symbols are hashed; NewAlphabet finds them
}

// WithDefaults returns the options with their defaults in place of zeros.
func (o SpellingOptions) WithDefaults() (SpellingOptions, error) {
	if len(o.Gram) == 0 {
		o.Gram = []int{1}
	}
	o.Limit = cmp.Or(o.Limit, 16)
	o.MinCount = cmp.Or(o.MinCount, 2)
	switch {
	case o.Gram[0] < 1:
		return o, fmt.Errorf("symbols of %d characters; they must have at least 1", o.Gram[0])
	case !ascending(o.Gram):
		return o, fmt.Errorf("symbols of %v characters; the lengths must ascend", o.Gram)
	case o.Buckets < 0 || uint64(o.Buckets) > math.MaxUint32 || o.Buckets == 0 && len(o.Hashed) > 0:
		return o, fmt.Errorf("symbols are hashed to %d buckets; there must be less than 2^32, and 0 is for none", o.Buckets)
	case o.Limit < 2:
		return o, fmt.Errorf("words are limited to %d symbols; the two marks alone need 2", o.Limit)
	case o.MinCount < 1:
		return o, fmt.Errorf("symbols must occur in %d words; the least is 1", o.MinCount)
	}
	return o, nil
}

func ascending(lengths []int) bool {
	return slices.IsSorted(lengths) && len(slices.Compact(slices.Clone(lengths))) == len(lengths)
}

// An Alphabet turns words into symbols: the characters (Unicode code points), or n-grams of them, of the word between
// two marks. A byte that is not UTF-8 counts as the character U+FFFD.
type Alphabet struct {
	options SpellingOptions
	symbols []string // those that stand for text
	numbers map[string]uint32
}

// NewAlphabet collects the symbols of a vocabulary, most frequent first, ties in the order of their bytes.
func NewAlphabet(vocabulary []string, o SpellingOptions) (*Alphabet, error) {
	o, err := o.WithDefaults()
	if err != nil {
		return nil, err
	}
	if len(vocabulary) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	o.Hashed = nil
	counts := map[string]int{}
	for _, length := range o.Gram {
		of := countSymbols(vocabulary, length, o)
		if o.Buckets > 0 && len(of) > o.Buckets {
			o.Hashed = append(o.Hashed, length)
			of = countSymbols(vocabulary, length, o)
		}
		for symbol, count := range of {
			counts[symbol] = max(counts[symbol], count) // a short word is a symbol of several lengths
		}
	}
	symbols := slices.Collect(maps.Keys(counts))
	slices.SortFunc(symbols, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return AlphabetOf(symbols, o), nil
}

// countSymbols returns how many words have each symbol of a length, but for those that are too rare.
func countSymbols(vocabulary []string, length int, o SpellingOptions) map[string]int {
	counts := map[string]int{}
	for _, word := range vocabulary {
		symbols := o.spell(word, length)
		slices.Sort(symbols)
		for _, symbol := range slices.Compact(symbols) {
			counts[symbol]++
		}
	}
	maps.DeleteFunc(counts, func(_ string, count int) bool { return count < o.MinCount })
	return counts
}

// AlphabetOf makes an alphabet of the symbols of another.
func AlphabetOf(symbols []string, o SpellingOptions) *Alphabet {
	a := &Alphabet{options: o, symbols: symbols, numbers: make(map[string]uint32, len(symbols))}
	for i, s := range symbols {
		a.numbers[s] = uint32(a.known() + i)
	}
	return a
}

// known is the number of symbols that stand for no text.
func (a *Alphabet) known() int { return unknown + a.spellings() }

// spellings is G, how often a word is spelt: once in each length.
func (a *Alphabet) spellings() int { return max(len(a.options.Gram), 1) }

// spell returns the symbols of a length of a word. A hashed one is named by its length and bucket, behind a mark that no
// other symbol begins with.
func (o SpellingOptions) spell(word string, length int) []string {
	symbols := split(word, length)
	if slices.Contains(o.Hashed, length) {
		for i, symbol := range symbols {
			symbols[i] = fmt.Sprintf("%s%d:%d", endMark, length, bucketOf(symbol, o.Buckets))
		}
	}
	return symbols
}

// split returns the symbols of a word: its runs of n characters, or the whole if it is shorter.
func split(word string, n int) []string {
	marked := make([]string, 0, len(word)+2)
	marked = append(marked, beginMark)
	for _, character := range word {
		marked = append(marked, string(character))
	}
	marked = append(marked, endMark)
	if n == 1 {
		return marked
	}
	var grams []string
	for i := range max(len(marked)-n, 0) + 1 {
		grams = append(grams, strings.Join(marked[i:min(i+n, len(marked))], ""))
	}
	return grams
}

// Len is the number of symbols, those for padding and the unknown among them.
func (a *Alphabet) Len() int { return a.known() + len(a.symbols) }

// bytes estimates the memory of the symbols: their texts, and a map that is half full.
func (a *Alphabet) bytes() int64 {
	bytes := int64(2*(16+4+1)+16) * int64(len(a.symbols))
	for _, s := range a.symbols {
		bytes += int64(len(s))
	}
	return bytes
}

// Spell returns the spellings of words. One of more symbols than the limit loses those before its last. One of less than
// atLeast symbols is padded.
func (a *Alphabet) Spell(words []string, atLeast int) *Spellings {
	s := &Spellings{starts: make([]uint32, 1, len(words)*a.spellings()+1), each: a.spellings()}
	limit := a.options.Limit
	for _, word := range words {
		for i, length := range a.options.Gram {
			symbols := a.options.spell(word, length)
			if len(symbols) > limit {
				if i == 0 {
					s.Truncated++
				}
				symbols[limit-1] = symbols[len(symbols)-1]
				symbols = symbols[:limit]
			}
			for _, symbol := range symbols {
				number, ok := a.numbers[symbol]
				if !ok {
					number = uint32(unknown + i)
				}
				s.symbols = append(s.symbols, number)
			}
			for range atLeast - len(symbols) {
				s.symbols = append(s.symbols, padding)
			}
			s.starts = append(s.starts, uint32(len(s.symbols)))
		}
	}
	return s
}

// Spellings are the symbols of a list of words. A word that is spelt in G lengths counts as G words, one after the
// other.
type Spellings struct {
	Truncated int // words that were too long

	symbols []uint32
	starts  []uint32 // word i is symbols[starts[i]:starts[i+1]]
	each    int      // G; 0 stands for 1
	batch   []uint32 // if not nil, the words are those of these numbers, with G spellings each
}

// bytes is the memory of the spellings.
func (s *Spellings) bytes() int64 { return 4*int64(cap(s.symbols)) + 4*int64(cap(s.starts)) }

// Len is the number of words.
func (s *Spellings) Len() int {
	if s.batch != nil {
		return len(s.batch) * max(s.each, 1)
	}
	return len(s.starts) - 1
}

// Word returns the symbols of word i.
func (s *Spellings) Word(i int) []uint32 {
	if s.batch != nil {
		each := max(s.each, 1)
		i = int(s.batch[i/each])*each + i%each
	}
	return s.symbols[s.starts[i]:s.starts[i+1]]
}

// renumber replaces symbols by their places among the different ones, which it returns.
func (s *Spellings) renumber() (used []uint32) {
	places := map[uint32]uint32{}
	for i, symbol := range s.symbols {
		place, ok := places[symbol]
		if !ok {
			place = uint32(len(used))
			places[symbol], used = place, append(used, symbol)
		}
		s.symbols[i] = place
	}
	return used
}

// of returns the spellings of the words that batch names when they are asked for; nil stands for all.
func (s *Spellings) of(batch []uint32) *Spellings {
	return &Spellings{symbols: s.symbols, starts: s.starts, each: s.each, batch: batch}
}
