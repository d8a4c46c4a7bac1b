package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
)

// A Vocabulary numbers the words of a corpus: id 0 is the most frequent word,
// equal counts are ordered by the bytes of the word. It is not changed after it
// was made; any number of goroutines may use it.
type Vocabulary struct {
	Words  []string // by id
	Counts []uint64 // by id, tokens of the corpus

	idsOnce sync.Once
	ids     map[string]uint32
}

// NewVocabulary returns the vocabulary of the given words and counts, in the
// given order. It keeps both slices. Two equal words are an error, and so is a
// different number of words and counts.
func NewVocabulary(words []string, counts []uint64) (*Vocabulary, error) {
	if len(words) != len(counts) {
		return nil, fmt.Errorf("vocabulary: %d words but %d counts", len(words), len(counts))
	}
	if uint64(len(words)) > math.MaxUint32 {
		return nil, fmt.Errorf("vocabulary: %d words, more than 32-bit ids can number", len(words))
	}
	v := &Vocabulary{Words: words, Counts: counts}
	if first, second, found := v.duplicate(); found {
		return nil, fmt.Errorf("vocabulary: word %q has two ids, %d and %d", words[first], first, second)
	}
	return v, nil
}

// duplicate finds a word that occurs twice.
func (v *Vocabulary) duplicate() (first, second uint32, found bool) {
	ids := v.index()
	if len(ids) == len(v.Words) {
		return 0, 0, false
	}
	for id, word := range v.Words {
		if last := ids[word]; int(last) != id {
			return uint32(id), last, true
		}
	}
	return 0, 0, false
}

// index returns the map from words to ids. It is made when first needed:
// reading and training a corpus do without it.
func (v *Vocabulary) index() map[string]uint32 {
	v.idsOnce.Do(func() {
		v.ids = make(map[string]uint32, len(v.Words))
		for id, word := range v.Words {
			v.ids[word] = uint32(id)
		}
	})
	return v.ids
}

// Len returns the number of words.
func (v *Vocabulary) Len() int { return len(v.Words) }

// ID returns the id of the word, and whether the vocabulary has it.
func (v *Vocabulary) ID(word string) (id uint32, ok bool) {
	id, ok = v.index()[word]
	return id, ok
}

// Total returns the sum of the counts.
func (v *Vocabulary) Total() uint64 {
	var total uint64
	for _, n := range v.Counts {
		total += n
	}
	return total
}

// WriteTSV writes one line a word, by id: word, tab, count, line feed. A word
// that such a file cannot hold (empty, or with a tab or line break in it) is
// an error; a corpus has none.
func (v *Vocabulary) WriteTSV(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	for id, word := range v.Words {
		if word == "" || strings.ContainsAny(word, "\t\n\r") {
			return fmt.Errorf("vocabulary: word number %d, %q, cannot stand in a TSV file", id, word)
		}
		buffered.WriteString(word)
		buffered.WriteByte('\t')
		buffered.WriteString(strconv.FormatUint(v.Counts[id], 10))
		buffered.WriteByte('\n') // the first error sticks: Flush returns it
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("vocabulary: write: %w", err)
	}
	return nil
}

// ReadVocabularyTSV reads what WriteTSV wrote; lines may end in CR LF, too. The
// name stands for r in messages, which name the line.
func ReadVocabularyTSV(r io.Reader, name string) (*Vocabulary, error) {
	var words []string
	var counts []uint64
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: line %d: %w", name, number, err)
		}
		if line == "" {
			break
		}
		word, count, err := parseTSV(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, number, err)
		}
		words, counts = append(words, word), append(counts, count)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: the vocabulary file is empty", name)
	}
	v := &Vocabulary{Words: words, Counts: counts}
	if first, second, found := v.duplicate(); found {
		return nil, fmt.Errorf("%s: line %d: word %q stands in line %d already", name, second+1, words[second], first+1)
	}
	return v, nil
}

// parseTSV splits one line of a vocabulary file.
func parseTSV(line string) (word string, count uint64, err error) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	word, digits, found := strings.Cut(line, "\t")
	switch {
	case !found:
		return "", 0, fmt.Errorf("no tab in %q: a line is a word, a tab and its count", line)
	case word == "":
		return "", 0, fmt.Errorf("no word before the tab in %q", line)
	}
	count, err = strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("count %q of word %q is not a whole number from 0 to 2^64-1", digits, word)
	}
	return word, count, nil
}
