package wordcount

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// An entry is a word of the merged tables.
type entry struct {
	word   []byte
	count  uint64
	merged uint32
}

// compareEntries orders as a vocabulary does: by falling count, then by bytes.
func compareEntries(a, b entry) int {
	if a.count != b.count {
		return cmp.Compare(b.count, a.count)
	}
	return bytes.Compare(a.word, b.word)
}

// A partition is one of several tables into which the tables of all encoders are merged
// in parallel. A word's hash value decides its partition.
type partition struct {
	table *table
	kept  []entry // the words that are frequent enough
	err   error   // there was no memory for kept

	punctuated, capitalized int64 // tokens, see Stats

	// Of words on the disk.
	base int   // merged number of the first kept word
	runs []run // pairs of numbers: of a word in its table, and of the kept word
}

// mergeBytes is about the memory that mergeTables takes while the encoders' tables are
// still there: numbers of all words, and a table for each part.
func mergeBytes(encoders []*encoder, parts int) int64 {
	words, long := 0, 0
	for _, e := range encoders {
		words += e.table.used
		long += len(e.table.long)
	}
	return int64(words)*(4+8) + int64(long) + int64(parts)<<slotsLog2(words/parts)*slotBytes
}

// mergeTables makes the vocabulary of all encoders' tables. For each encoder it
// returns the id, or removed, of every number of its table. It sets stats and
// frees the encoders' tables.
func mergeTables(ctx context.Context, encoders []*encoder, o Options, stats *Stats) (words []string, counts []uint64, ids [][]uint32, err error) {
	if stats.Tokens == stats.LongTokens {
		return nil, nil, nil, emptyError(stats, o)
	}
	ids = make([][]uint32, len(encoders))
	for i, e := range encoders {
		ids[i] = make([]uint32, e.table.used+1)
	}
	keep := o.keeper()
	parts := make([]partition, o.Threads)
	slots := make([][][]int, len(encoders))
	if err := parallel.Do(ctx, o.Threads, len(encoders), func(e int) {
		slots[e] = encoders[e].table.split(len(parts))
	}); err != nil {
		return nil, nil, nil, err
	}
	if err := parallel.Do(ctx, o.Threads, len(parts), func(i int) {
		parts[i].merge(encoders, slots, ids, i, len(parts))
		parts[i].look()
		parts[i].keep(keep, i, len(parts))
	}); err != nil {
		return nil, nil, nil, err
	}
	for _, e := range encoders {
		if uint64(e.table.used) >= math.MaxUint32 {
			return nil, nil, nil, errTooManyTypes
		}
		e.table = nil
	}
	longest, err := checkPartitions(parts, o, stats)
	if err != nil {
		return nil, nil, nil, err
	}
	words, counts, final, err := vocabularyOf(ctx, parts, (longest+1)*len(parts), o, stats)
	if err != nil {
		return nil, nil, nil, err
	}
	err = parallel.Do(ctx, o.Threads, len(ids), func(i int) {
		for number, merged := range ids[i] { // the line end is merged number 0, which no word has
			ids[i][number] = final[merged]
		}
	})
	return words, counts, ids, err
}

// checkPartitions sets stats. It returns the words of the longest partition, and an error if the
// partitions have too many words or keep none.
func checkPartitions(parts []partition, o Options, stats *Stats) (longest int, err error) {
	for i := range parts {
		longest = max(longest, parts[i].table.used)
		stats.Types += int64(parts[i].table.used)
		stats.Punctuated += parts[i].punctuated
		stats.Capitalized += parts[i].capitalized
	}
	if uint64(longest) >= math.MaxUint32/uint64(len(parts)) {
		return 0, errTooManyTypes
	}
	most := mostFrequent{}
	kept := 0
	for i := range parts {
		if err := parts[i].err; err != nil {
			return 0, tooManyTypes(stats, err)
		}
		if kept += len(parts[i].kept); kept == 0 {
			most.look(parts[i].table)
		}
	}
	if kept == 0 {
		return 0, minCountError(most, o)
	}
	return longest, nil
}

// vocabularyOf makes the vocabulary of the kept words of all parts, whose merged numbers
// are all below n. final has the ids, or removed, by merged numbers. It sets stats.TokensUsed.
func vocabularyOf(ctx context.Context, parts []partition, n int, o Options, stats *Stats) (words []string, counts []uint64, final []uint32, err error) {
	total := 0
	for i := range parts {
		total += len(parts[i].kept)
	}
	done, err := memory.Room(int64(total)*vocabularyBytes + 4*int64(n))
	if err != nil {
		return nil, nil, nil, tooManyTypes(stats, err)
	}
	defer done()
	final = slices.Repeat([]uint32{removed}, n)
	if o.Vocabulary != nil {
		k := o.keeper()
		for i := range parts {
			for _, e := range parts[i].kept {
				final[e.merged] = k.ids[string(e.word)]
				stats.TokensUsed += int64(e.count)
			}
		}
		return o.Vocabulary, nil, final, nil
	}
	kept := make([]entry, 0, total)
	for i := range parts {
		kept = append(kept, parts[i].kept...)
	}
	if err := parallel.Sort(ctx, o.Threads, kept, compareEntries); err != nil {
		return nil, nil, nil, err
	}
	if o.MaxWords > 0 && len(kept) > o.MaxWords {
		kept = kept[:o.MaxWords]
	}
	for id, e := range kept {
		final[e.merged] = uint32(id)
		stats.TokensUsed += int64(e.count)
	}
	words, counts = copyWords(kept)
	return words, counts, final, nil
}

var errTooManyTypes = errors.New("too many different words: word ids have 32 bits")

// tooManyTypes tells with an error about memory how many words there are.
func tooManyTypes(stats *Stats, err error) error {
	return fmt.Errorf("the text has %s different words: %w", terminal.Number(stats.Types), err)
}

func emptyError(stats *Stats, o Options) error {
	if stats.LongTokens > 0 {
		return fmt.Errorf("%w: all its tokens (%d) are longer than %d bytes", ErrEmpty, stats.LongTokens, o.MaxToken)
	}
	return fmt.Errorf("%w (%d bytes read)", ErrEmpty, stats.Bytes)
}

// mostFrequent is the most frequent word of some tables.
type mostFrequent struct{ entry }

func (m *mostFrequent) look(t *table) {
	for at := range t.slots {
		s := &t.slots[at]
		if s.count < m.count || s.id == 0 {
			continue
		}
		if e := (entry{word: t.appendWord(nil, s), count: s.count}); compareEntries(e, m.entry) < 0 {
			m.entry = e
		}
	}
}

func minCountError(most mostFrequent, o Options) error {
	times := func(n uint64) string { return terminal.Quantity(terminal.Number(n), "time") }
	if o.Vocabulary != nil {
		return fmt.Errorf("%w: none is in the given vocabulary of %s words; the most frequent one, %q, occurs %s",
			ErrMinCount, terminal.Number(len(o.Vocabulary)), most.word, times(most.count))
	}
	return fmt.Errorf("%w: none occurs %s, the minimum count; the most frequent one, %q, occurs %s",
		ErrMinCount, times(uint64(o.MinCount)), most.word, times(most.count))
}

// split returns the numbers of the used slots of each of n parts, in rising order.
func (t *table) split(n int) [][]int {
	each := func(do func(slot, part int)) {
		for at := range t.slots {
			if s := &t.slots[at]; s.id != 0 {
				do(at, int(s.hash()%uint64(n)))
			}
		}
	}
	sizes := make([]int, n)
	each(func(_, part int) { sizes[part]++ })
	all, parts := make([]int, t.used), make([][]int, n)
	for part, size := range sizes {
		parts[part], all = all[:0:size], all[size:]
	}
	each(func(slot, part int) { parts[part] = append(parts[part], slot) })
	return parts
}

// merge fills part i of n from the slots of each encoder's table that split gave to
// it. It sets the encoders' ids to merged numbers: n times the number in the part's
// table, plus i.
func (p *partition) merge(encoders []*encoder, slots [][][]int, ids [][]uint32, i, n int) {
	// Slots come in the order of hash values. In a table that has yet to grow they
	// would all go to its first slots, which takes quadratic time. So the table
	// starts at its full size.
	total := 0
	for e := range slots {
		total += len(slots[e][i])
	}
	p.table = newTable(total)
	for e, from := range encoders {
		for _, slot := range slots[e][i] {
			s := &from.table.slots[slot]
			var word []byte
			if s.long != 0 {
				word = from.table.longWord(s)
			}
			ids[e][s.id] = p.table.add(s.key, word, s.count)*uint32(n) + uint32(i)
		}
	}
}

// look counts what tells raw text from text that was prepared.
func (p *partition) look() {
	var word []byte
	for at := range p.table.slots {
		s := &p.table.slots[at]
		if s.id == 0 {
			continue
		}
		word = p.table.appendWord(word[:0], s)
		if endsPunctuated(word) {
			p.punctuated += int64(s.count)
		}
		if first, _ := utf8.DecodeRune(word); unicode.IsUpper(first) {
			p.capitalized += int64(s.count)
		}
	}
}

// endsPunctuated reports whether a word has punctuation behind a letter or digit, as
// "end." and "word,\"" have; a punctuation mark alone is a token of prepared text.
func endsPunctuated(word []byte) bool {
	last, _ := utf8.DecodeLastRune(word)
	return unicode.IsPunct(last) && bytes.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// vocabularyBytes is the memory of making the vocabulary, for each of its words: two entries
// at a time to merge lists, and the word.
const vocabularyBytes = 3 * entryBytes

// entryBytes is the memory of an entry.
const entryBytes = int64(unsafe.Sizeof(entry{}))

// A keeper says which words are kept.
type keeper struct {
	minCount uint64
	ids      map[string]uint32 // of a given vocabulary, or nil
}

func (o *Options) keeper() keeper {
	if o.Vocabulary == nil {
		return keeper{minCount: uint64(o.MinCount)}
	}
	k := keeper{ids: make(map[string]uint32, len(o.Vocabulary))}
	for id, word := range o.Vocabulary {
		k.ids[word] = uint32(id)
	}
	return k
}

func (k *keeper) knows(word []byte) bool {
	if k.ids == nil {
		return true
	}
	_, known := k.ids[string(word)]
	return known
}

func (p *partition) keep(k keeper, i, n int) {
	kept := 0
	for at := range p.table.slots {
		if s := &p.table.slots[at]; s.id != 0 && s.count >= k.minCount {
			kept++
		}
	}
	if k.ids != nil {
		kept = min(kept, len(k.ids))
	}
	done, err := memory.Room(int64(kept) * (entryBytes + longestInKey))
	if err != nil {
		p.err = err
		return
	}
	defer done()
	p.kept = make([]entry, 0, kept)
	var words []byte // it may move as it grows; entries keep the old array, which stays right
	for at := range p.table.slots {
		s := &p.table.slots[at]
		if s.id == 0 || s.count < k.minCount {
			continue
		}
		start := len(words)
		words = p.table.appendWord(words, s)
		if !k.knows(words[start:]) {
			words = words[:start]
			continue
		}
		p.kept = append(p.kept, entry{words[start:], s.count, s.id*uint32(n) + uint32(i)})
	}
}

// copyWords copies the words from the tables into one string.
func copyWords(kept []entry) ([]string, []uint64) {
	size := 0
	for _, e := range kept {
		size += len(e.word)
	}
	var all strings.Builder
	all.Grow(size)
	words, counts := make([]string, len(kept)), make([]uint64, len(kept))
	for id, e := range kept {
		start := all.Len()
		all.Write(e.word)
		words[id], counts[id] = all.String()[start:], e.count
	}
	return words, counts
}
