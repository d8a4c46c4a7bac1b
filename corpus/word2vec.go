package corpus

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// sentenceEnd is how word2vec calls the end of a sentence: the first word of its vocabulary
// files, which this package has no use for.
const sentenceEnd = "</s>"

// WriteWord2Vec writes a vocabulary file of word2vec (-save-vocab): the end of a sentence, which
// occurs lines times, and then a line a word: word, space, count. A word with white space is an error.
func (v *Vocabulary) WriteWord2Vec(w io.Writer, lines int64) error {
	buffered := bufio.NewWriter(w)
	buffered.WriteString(sentenceEnd + " " + strconv.FormatInt(lines, 10) + "\n")
	for id, word := range v.Words {
		if !plainWord(word) {
			return fmt.Errorf("vocabulary: word number %d, %q, cannot be written to a vocabulary file of word2vec", id, word)
		}
		buffered.Write(v.appendLine(buffered.AvailableBuffer(), id, ' ')) // the first error sticks: Flush returns it
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("vocabulary: write: %w", err)
	}
	return nil
}

// ReadWord2VecVocabulary reads a vocabulary file of word2vec, by falling count whatever the
// order of its lines. Lines may have a tab for the space, as vocab.tsv has. Errors name the
// file, by name, and the line.
func ReadWord2VecVocabulary(r io.Reader, name string) (*Vocabulary, error) {
	v := &Vocabulary{}
	lines := textfile.NewLines(r)
	for lines.Next() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 || !plainWord(fields[0]) {
			return nil, fmt.Errorf("%s: line %d: %.40q is not a word, a space and its count", name, lines.Number, lines.Text())
		}
		count, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: count %q of word %q is not a whole number", name, lines.Number, fields[1], fields[0])
		}
		if fields[0] != sentenceEnd {
			v.Words, v.Counts = append(v.Words, strings.Clone(fields[0])), append(v.Counts, count)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(v.Words) == 0 {
		return nil, fmt.Errorf("%s: the vocabulary file has no words", name)
	}
	if first, _, found := v.duplicate(); found {
		return nil, fmt.Errorf("%s: word %q occurs twice", name, v.Words[first])
	}
	return v.Frequent(0, 0), nil
}

// Frequent returns the words with at least minCount occurrences, by falling count, those of
// equal count in the order of their bytes: at most most of them; 0 is any number.
func (v *Vocabulary) Frequent(minCount uint64, most int) *Vocabulary {
	var ids []int
	for id, n := range v.Counts {
		if n >= minCount {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int) int {
		return cmp.Or(cmp.Compare(v.Counts[b], v.Counts[a]), strings.Compare(v.Words[a], v.Words[b]))
	})
	if most > 0 && len(ids) > most {
		ids = ids[:most]
	}
	f := &Vocabulary{}
	for _, id := range ids {
		f.Words, f.Counts = append(f.Words, v.Words[id]), append(f.Counts, v.Counts[id])
	}
	return f
}
