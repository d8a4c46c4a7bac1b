package subword

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The marks of a word's beginning and end. They are bytes that no UTF-8 text holds, so a word with < or > in it is not
// mistaken for them.
const (
	beginMark = "\xfe"
	endMark   = "\xff"
)

// Symbols that stand for no text.
const (
	padding = 0 // behind a word that is shorter than a filter
	unknown = 1 // what is too rare to have a symbol of its own
	known   = 2 // the first of the others
)

// SpellingOptions says how words become symbols. The zero value of a number means its default.
type SpellingOptions struct {
	Gram     int // characters of a symbol; default 1, more for character n-grams
	Limit    int // L, most symbols of a word, its marks among them; default 16
	MinCount int // vocabulary words that must hold a symbol; default 2; rarer ones are one unknown symbol
}

// WithDefaults returns the options with their defaults in place of zeros.
func (o SpellingOptions) WithDefaults() (SpellingOptions, error) {
	o.Gram = cmp.Or(o.Gram, 1)
	o.Limit = cmp.Or(o.Limit, 16)
	o.MinCount = cmp.Or(o.MinCount, 2)
	switch {
	case o.Gram < 1:
		return o, fmt.Errorf("symbols of %d characters; they must have at least 1", o.Gram)
	case o.Limit < 2:
		return o, fmt.Errorf("words are limited to %d symbols; the two marks alone need 2", o.Limit)
	case o.MinCount < 1:
		return o, fmt.Errorf("symbols must occur in %d words; the least is 1", o.MinCount)
	}
	return o, nil
}

// An Alphabet turns words into symbols: the characters (Unicode code points), or n-grams of them, of the word between
// two marks. A byte that is not UTF-8 counts as the character U+FFFD.
type Alphabet struct {
	options SpellingOptions
	symbols []string // of number known and on
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
	counts := map[string]int{}
	for _, word := range vocabulary {
		grams := split(word, o.Gram)
		slices.Sort(grams)
		for _, gram := range slices.Compact(grams) {
			counts[gram]++
		}
	}
	var symbols []string
	for gram, count := range counts {
		if count >= o.MinCount {
			symbols = append(symbols, gram)
		}
	}
	slices.SortFunc(symbols, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return AlphabetOf(symbols, o), nil
}

// AlphabetOf makes an alphabet of the symbols of another.
func AlphabetOf(symbols []string, o SpellingOptions) *Alphabet {
	a := &Alphabet{options: o, symbols: symbols, numbers: make(map[string]uint32, len(symbols))}
	for i, s := range symbols {
		a.numbers[s] = uint32(known + i)
	}
	return a
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
func (a *Alphabet) Len() int { return known + len(a.symbols) }

// Spell returns the symbols of words. A word of more symbols than the limit loses those before its last. Words of less
// than atLeast symbols are padded.
func (a *Alphabet) Spell(words []string, atLeast int) *Spellings {
	s := &Spellings{starts: make([]int, 1, len(words)+1)}
	limit := a.options.Limit
	for _, word := range words {
		grams := split(word, a.options.Gram)
		if len(grams) > limit {
			s.Truncated++
			grams[limit-1] = grams[len(grams)-1]
			grams = grams[:limit]
		}
		for _, gram := range grams {
			number, ok := a.numbers[gram]
			if !ok {
				number = unknown
			}
			s.symbols = append(s.symbols, number)
		}
		for range atLeast - len(grams) {
			s.symbols = append(s.symbols, padding)
		}
		s.starts = append(s.starts, len(s.symbols))
	}
	return s
}

// Spellings are the symbols of a list of words.
type Spellings struct {
	Truncated int // words that were too long

	symbols []uint32
	starts  []int    // word i is symbols[starts[i]:starts[i+1]]
	batch   []uint32 // if not nil, word i is that of number batch[i]
}

// bytes is the memory of the spellings.
func (s *Spellings) bytes() int64 { return 4*int64(cap(s.symbols)) + 8*int64(cap(s.starts)) }

// NewSpellings returns the spellings of words; word i has the symbols symbols[starts[i]:starts[i+1]].
func NewSpellings(starts, symbols []uint32) *Spellings {
	s := &Spellings{symbols: symbols}
	for _, i := range starts {
		s.starts = append(s.starts, int(i))
	}
	return s
}

// Len is the number of words.
func (s *Spellings) Len() int {
	if s.batch != nil {
		return len(s.batch)
	}
	return len(s.starts) - 1
}

// Word returns the symbols of word i.
func (s *Spellings) Word(i int) []uint32 {
	if s.batch != nil {
		i = int(s.batch[i])
	}
	return s.symbols[s.starts[i]:s.starts[i+1]]
}

// Place returns the symbols number i of all words, counted from their ends: none of a shorter word.
func (s *Spellings) Place(i int) *Spellings {
	p := &Spellings{starts: []int{0}}
	for word := range s.Len() {
		if symbols := s.Word(word); i < len(symbols) {
			p.symbols = append(p.symbols, symbols[len(symbols)-1-i])
		}
		p.starts = append(p.starts, len(p.symbols))
	}
	return p
}

// of returns the spellings of the words that batch names when they are asked for; nil stands for all.
func (s *Spellings) of(batch []uint32) *Spellings {
	return &Spellings{symbols: s.symbols, starts: s.starts, batch: batch}
}
