package corpus

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A Vocabulary numbers the V different words (types) of a corpus. Id 0 is the most
// frequent word; words of equal count are in the order of their bytes. A Vocabulary never changes; any
// number of goroutines may use it.
type Vocabulary struct {
	Words  []string // (V), by id
	Counts []uint64 // (V), by id: tokens of the corpus

	idsOnce sync.Once
	ids     map[string]uint32
}

// NewVocabulary returns the vocabulary of words and counts in their order. It keeps
// both slices. Errors: two equal words; not as many counts as words.
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

// index returns the map from words to ids. The first call makes it, because reading
// and training do without it.
func (v *Vocabulary) index() map[string]uint32 {
	v.idsOnce.Do(func() {
		v.ids = make(map[string]uint32, len(v.Words))
		for id, word := range v.Words {
			v.ids[word] = uint32(id)
		}
	})
	return v.ids
}

// Len returns V, the number of words.
func (v *Vocabulary) Len() int { return len(v.Words) }

// WordBytes returns the length of all words together.
func (v *Vocabulary) WordBytes() (bytes int) {
	for _, word := range v.Words {
		bytes += len(word)
	}
	return bytes
}

// ID returns the id of the word. ok is false if the vocabulary lacks it.
func (v *Vocabulary) ID(word string) (id uint32, ok bool) {
	id, ok = v.index()[word]
	return id, ok
}

// Total returns the sum of the counts, the number of tokens.
func (v *Vocabulary) Total() uint64 {
	var total uint64
	for _, n := range v.Counts {
		total += n
	}
	return total
}

// WriteTSV writes one line a word, by id: word, tab, count, line feed. A word that
// such a file cannot hold (empty, or with a tab or line break) is an error; the
// words of a Corpus are none of these.
func (v *Vocabulary) WriteTSV(w io.Writer) error {
	const together = 1 << 14 // words of a block, all made side by side: of many words, each waits for memory
	first := 0
	threads := min(runtime.GOMAXPROCS(0), 1+len(v.Words)/together)
	blocks := parallel.NewBlocks(threads, func() (func() parallel.Block, error) {
		if first == len(v.Words) {
			return nil, io.EOF
		}
		from, end := first, min(first+together, len(v.Words))
		first = end
		return func() parallel.Block { return v.lines(from, end) }, nil
	})
	defer func() { _ = blocks.Close() }() // it was only read
	if _, err := io.Copy(w, blocks); err != nil {
		return fmt.Errorf("vocabulary: write: %w", err)
	}
	return nil
}

func (v *Vocabulary) lines(first, end int) (b parallel.Block) {
	for id := first; id < end; id++ {
		word := v.Words[id]
		if word == "" || strings.ContainsAny(word, "\t\n\r") {
			b.Err = fmt.Errorf("word number %d, %q, cannot be part of a TSV file", id, word)
			break
		}
		b.Data = v.appendLine(b.Data, id, '\t')
	}
	return b
}

func (v *Vocabulary) appendLine(to []byte, id int, separator byte) []byte {
	to = append(append(to, v.Words[id]...), separator)
	return append(strconv.AppendUint(to, v.Counts[id], 10), '\n')
}

// ReadVocabularyTSV reads a file of WriteTSV; lines may also end in CR LF. Errors
// name the file, by name, and the line: a line in another form, a word that occurs
// twice, no words.
func ReadVocabularyTSV(r io.Reader, name string) (*Vocabulary, error) {
	var words []string
	var counts []uint64
	lines := textfile.NewLines(r)
	for lines.Next() {
		word, count, err := parseTSV(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, lines.Number, err)
		}
		words, counts = append(words, word), append(counts, count)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: the vocabulary file is empty", name)
	}
	v := &Vocabulary{Words: words, Counts: counts}
	if first, second, found := v.duplicate(); found {
		return nil, fmt.Errorf("%s: line %d: word %q is already in line %d", name, second+1, words[second], first+1)
	}
	return v, nil
}

// parseTSV splits one line of a vocabulary file.
func parseTSV(line string) (word string, count uint64, err error) {
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

// Bytes estimates the memory of words and counts.
func (v *Vocabulary) Bytes() int64 {
	return 24*int64(v.Len()) + int64(v.WordBytes()) // string and count
}
