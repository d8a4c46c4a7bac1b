package corpus

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

// A part is one of several tables into which the tables of all encoders are merged
// in parallel. A word's hash value decides its part.
type part struct {
	table *table
	kept  []entry // the words that are frequent enough, sorted
	err   error   // there was no memory for kept

	punctuated, capitalized int64 // tokens, see Stats
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
// returns the id, or removed, of every number of its table. It sets stats.Types and
// frees the encoders' tables.
func mergeTables(ctx context.Context, encoders []*encoder, o Options, stats *Stats) (*Vocabulary, [][]uint32, error) {
	if stats.Tokens == stats.LongTokens {
		return nil, nil, emptyError(stats, o)
	}
	ids := make([][]uint32, len(encoders))
	for i, e := range encoders {
		ids[i] = make([]uint32, e.table.used+1)
	}
	parts := make([]part, o.Threads)
	slots := make([][][]int, len(encoders))
	if err := parallel.Do(ctx, o.Threads, len(encoders), func(e int) {
		slots[e] = encoders[e].table.split(len(parts))
	}); err != nil {
		return nil, nil, err
	}
	if err := parallel.Do(ctx, o.Threads, len(parts), func(i int) {
		parts[i].merge(encoders, slots, ids, i, len(parts))
		parts[i].look()
		parts[i].keep(uint64(o.MinCount), i, len(parts))
	}); err != nil {
		return nil, nil, err
	}
	for _, e := range encoders {
		if uint64(e.table.used) >= math.MaxUint32 {
			return nil, nil, errTooManyTypes
		}
		e.table = nil
	}
	longest := 0
	for i := range parts {
		longest = max(longest, parts[i].table.used)
		stats.Types += int64(parts[i].table.used)
		stats.Punctuated += parts[i].punctuated
		stats.Capitalized += parts[i].capitalized
	}
	if uint64(longest) >= math.MaxUint32/uint64(len(parts)) {
		return nil, nil, errTooManyTypes
	}
	total := 0
	for i := range parts {
		if err := parts[i].err; err != nil {
			return nil, nil, tooManyTypes(stats, err)
		}
		total += len(parts[i].kept)
	}
	done, err := memory.Room(3 * int64(total) * entryBytes) // two of them at a time to merge lists, and the words
	if err != nil {
		return nil, nil, tooManyTypes(stats, err)
	}
	defer done()
	kept, err := sortedEntries(ctx, parts, o.Threads)
	if err != nil {
		return nil, nil, err
	}
	if len(kept) == 0 {
		return nil, nil, minCountError(parts, o)
	}
	err = replaceMerged(ctx, ids, kept, (longest+1)*len(parts), o.Threads)
	return vocabularyOf(kept), ids, err
}

// replaceMerged replaces merged numbers, all below n, by the vocabulary's ids.
func replaceMerged(ctx context.Context, ids [][]uint32, kept []entry, n, threads int) error {
	final := make([]uint32, n)
	for i := range final {
		final[i] = removed
	}
	for id, e := range kept {
		final[e.merged] = uint32(id)
	}
	return parallel.Do(ctx, threads, len(ids), func(i int) {
		for number, merged := range ids[i] { // the line end is merged number 0, which no word has
			ids[i][number] = final[merged]
		}
	})
}

var errTooManyTypes = errors.New("too many different words: word ids have 32 bits")

// tooManyTypes tells with an error about memory how many words there are.
func tooManyTypes(stats *Stats, err error) error {
	return fmt.Errorf("the text has %s different words: %w", terminal.Number(stats.Types), err)
}

func emptyError(stats *Stats, o Options) error {
	if stats.LongTokens > 0 {
		return fmt.Errorf("%w: its %d tokens are all longer than %d bytes", ErrEmpty, stats.LongTokens, o.maxToken)
	}
	return fmt.Errorf("%w (%d bytes read)", ErrEmpty, stats.Bytes)
}

func minCountError(parts []part, o Options) error {
	var most entry
	for _, p := range parts {
		for at := range p.table.slots {
			s := &p.table.slots[at]
			if s.count < most.count || s.id == 0 {
				continue
			}
			if e := (entry{word: p.table.appendWord(nil, s), count: s.count}); compareEntries(e, most) < 0 {
				most = e
			}
		}
	}
	return fmt.Errorf("%w: none occurs %d times, the minimum count; the most frequent one, %q, occurs %d times",
		ErrMinCount, o.MinCount, most.word, most.count)
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
func (p *part) merge(encoders []*encoder, slots [][][]int, ids [][]uint32, i, n int) {
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
func (p *part) look() {
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

// entryBytes is the memory of an entry.
const entryBytes = int64(unsafe.Sizeof(entry{}))

// keep sorts the words with at least minCount occurrences.
func (p *part) keep(minCount uint64, i, n int) {
	kept := 0
	for at := range p.table.slots {
		if s := &p.table.slots[at]; s.id != 0 && s.count >= minCount {
			kept++
		}
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
		if s.id == 0 || s.count < minCount {
			continue
		}
		start := len(words)
		words = p.table.appendWord(words, s)
		p.kept = append(p.kept, entry{words[start:], s.count, s.id*uint32(n) + uint32(i)})
	}
	slices.SortFunc(p.kept, compareEntries)
}

// sortedEntries merges the sorted words of all parts. Each goroutine merges the
// words between two pivots, which are taken at even steps of all lists.
func sortedEntries(ctx context.Context, parts []part, threads int) ([]entry, error) {
	const perList = 32
	var pivots []entry
	total := 0
	for _, p := range parts {
		total += len(p.kept)
		for k := range min(perList, len(p.kept)) {
			pivots = append(pivots, p.kept[k*len(p.kept)/perList])
		}
	}
	slices.SortFunc(pivots, compareEntries)
	ranges := min(threads, len(pivots)+1)
	// Range r has the words bounds[r][p] ... bounds[r+1][p]-1 of part p.
	bounds := make([][]int, ranges+1)
	for r := range bounds {
		bounds[r] = make([]int, len(parts))
		for p := range parts {
			switch {
			case r == ranges:
				bounds[r][p] = len(parts[p].kept)
			case r > 0:
				bounds[r][p], _ = slices.BinarySearchFunc(parts[p].kept, pivots[r*len(pivots)/ranges], compareEntries)
			}
		}
	}
	sorted := make([]entry, total)
	err := parallel.Do(ctx, threads, ranges, func(r int) {
		var lists [][]entry
		start := 0
		for p := range parts {
			lists = append(lists, parts[p].kept[bounds[r][p]:bounds[r+1][p]])
			start += bounds[r][p]
		}
		copy(sorted[start:], mergeLists(lists))
	})
	return sorted, err
}

// mergeLists merges sorted lists, two at a time.
func mergeLists(lists [][]entry) []entry {
	for len(lists) > 1 {
		lists = append(lists[2:], mergeSorted(lists[0], lists[1]))
	}
	return lists[0]
}

// mergeSorted merges two sorted lists.
func mergeSorted(a, b []entry) []entry {
	merged := make([]entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareEntries(a[0], b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// vocabularyOf copies the words from the tables into one string.
func vocabularyOf(kept []entry) *Vocabulary {
	size := 0
	for _, e := range kept {
		size += len(e.word)
	}
	var all strings.Builder
	all.Grow(size)
	v := &Vocabulary{Words: make([]string, len(kept)), Counts: make([]uint64, len(kept))}
	for id, e := range kept {
		start := all.Len()
		all.Write(e.word)
		v.Words[id] = all.String()[start:]
		v.Counts[id] = e.count
	}
	return v
}
