package wordcount

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// mergeSpilled makes the vocabulary of tables on the disk, one partition after the other:
// a word is in the same partition of all tables, so its count is whole there.
func (r *Result) mergeSpilled(ctx context.Context, encoders []*encoder, o Options) error {
	for _, e := range encoders {
		if err := e.spillTable(); err != nil {
			return err
		}
		e.table, e.spilling = nil, [partitions][]byte{}
	}
	if r.Stats.Tokens == r.Stats.LongTokens {
		return emptyError(&r.Stats, o)
	}
	keep := o.keeper()
	parts := make([]partition, partitions)
	var adding sync.Mutex
	most := mostFrequent{}
	kept := int64(0)
	if err := parallel.Try(ctx, r.disk.mergers(o.Threads), partitions, func(_, p int) error {
		if err := parts[p].mergeRuns(r.disk, r.disk.runs[p], keep); err != nil {
			return err
		}
		adding.Lock()
		defer adding.Unlock()
		r.Stats.Types += int64(parts[p].table.used)
		r.Stats.Punctuated += parts[p].punctuated
		r.Stats.Capitalized += parts[p].capitalized
		if len(parts[p].kept) == 0 {
			most.look(parts[p].table)
		}
		parts[p].table = nil
		// What the kept words will take, with those of this partition, while they are sorted.
		kept += int64(len(parts[p].kept))
		done, err := memory.Room(kept * vocabularyBytes)
		if err != nil {
			return err
		}
		done()
		return nil
	}); err != nil {
		return fmt.Errorf("the text has at least %s different words so far: %w", terminal.Number(r.Stats.Types), err)
	}
	total := numberWords(parts)
	if uint64(total) >= math.MaxUint32 {
		return errTooManyTypes
	}
	if total == 0 {
		return minCountError(most, o)
	}
	words, counts, final, err := vocabularyOf(ctx, parts, total, o, &r.Stats)
	if err != nil {
		return err
	}
	r.Words, r.Counts = words, counts
	r.disk.final(parts, final, r.chunks)
	return nil
}

// numberWords gives numbers to the words of all partitions, one partition behind the other. It returns
// how many there are.
func numberWords(parts []partition) (total int) {
	for p := range parts {
		parts[p].base = total
		for i := range parts[p].kept {
			parts[p].kept[i].merged += uint32(total)
		}
		total += len(parts[p].kept)
	}
	return total
}

// mergers returns how many of so many threads merge partitions at a time, in twice the memory
// that the tables had, which are gone.
func (d *disk) mergers(threads int) int {
	const perWord = 4*slotBytes + entryBytes + 16 // in a table that grows, kept, and numbered three times
	words := int64(partitions)
	for _, n := range d.tables {
		words += int64(n)
	}
	return int(min(int64(threads), max(2*d.allTables/(words/partitions*perWord), 1)))
}

// mergeRuns counts the words of a partition, keeps those that are frequent enough, and
// replaces the runs by pairs of numbers: of the word in its table, and among the kept ones.
func (p *partition) mergeRuns(d *disk, runs []run, keep keeper) error {
	words := 0
	for _, r := range runs {
		words = max(words, r.words)
	}
	p.table = newTable(words)
	merged := make([][]uint32, len(runs)) // numbers in the table, by word of the run
	var buffer []byte
	var err error
	for i, r := range runs {
		merged[i] = make([]uint32, 0, r.words)
		if buffer, err = d.each(r, buffer, func(_ uint32, count uint64, word []byte) {
			merged[i] = append(merged[i], p.table.add(keyOf(word), word, count))
		}); err != nil {
			return err
		}
		if p.table.err != nil {
			return p.table.err
		}
	}
	p.look()
	p.keep(keep, 0, 1)
	if p.err != nil {
		return p.err
	}
	// Number the kept words in their order.
	place := slices.Repeat([]uint32{removed}, p.table.used+1)
	for i := range p.kept {
		e := &p.kept[i]
		place[e.merged], e.merged = uint32(i), uint32(i)
	}
	p.runs = make([]run, len(runs))
	var pairs []byte
	for i, r := range runs {
		pairs = pairs[:0]
		n := 0
		if buffer, err = d.each(r, buffer, func(number uint32, _ uint64, _ []byte) {
			if at := place[merged[i][n]]; at != removed {
				pairs = binary.LittleEndian.AppendUint32(pairs, number)
				pairs = binary.LittleEndian.AppendUint32(pairs, at)
			}
			n++
		}); err != nil {
			return err
		}
		offset, err := d.append(pairs)
		if err != nil {
			return err
		}
		p.runs[i] = run{r.table, len(pairs) / 8, offset, int64(len(pairs))}
	}
	return nil
}

// A translation makes the ids of tables on the disk when a chunk needs them, and forgets
// them behind the last chunk that does. Chunks come about in the order of the text, so it
// holds about as many tables as there are threads.
type translation struct {
	sync.Mutex
	disk  *disk
	runs  [][]run  // by table, with the base of their partition
	bases [][]int  // as runs
	final []uint32 // ids of the kept words
	left  []int    // chunks of each table
	ids   map[int][]uint32
}

// final sets the translation of the tables.
func (d *disk) final(parts []partition, final []uint32, chunks []encodedChunk) {
	t := &translation{disk: d, final: final, left: make([]int, len(d.tables)), ids: map[int][]uint32{}}
	t.runs, t.bases = make([][]run, len(d.tables)), make([][]int, len(d.tables))
	for p := range parts {
		for _, r := range parts[p].runs {
			t.runs[r.table], t.bases[r.table] = append(t.runs[r.table], r), append(t.bases[r.table], parts[p].base)
		}
		parts[p].runs, parts[p].kept = nil, nil
	}
	for _, c := range chunks {
		t.left[c.table]++
	}
	d.translation = t
}

// take returns the ids by the numbers of a table. The caller calls done.
func (t *translation) take(table int) ([]uint32, error) {
	t.Lock()
	defer t.Unlock()
	if ids, ok := t.ids[table]; ok {
		return ids, nil
	}
	words := t.disk.tables[table]
	done, err := memory.Room(4 * int64(words))
	if err != nil {
		return nil, err
	}
	defer done()
	ids := slices.Repeat([]uint32{removed}, words+1)
	var buffer []byte
	for i, r := range t.runs[table] {
		if int64(cap(buffer)) < r.bytes {
			buffer = make([]byte, r.bytes)
		}
		b := buffer[:r.bytes]
		if err := t.disk.file.ReadAt(b, r.offset); err != nil {
			return nil, err
		}
		for ; len(b) > 0; b = b[8:] {
			ids[binary.LittleEndian.Uint32(b)] = t.final[t.bases[table][i]+int(binary.LittleEndian.Uint32(b[4:]))]
		}
	}
	t.ids[table] = ids
	return ids, nil
}

// done tells that a chunk of the table was translated.
func (t *translation) done(table int) {
	t.Lock()
	defer t.Unlock()
	if t.left[table]--; t.left[table] == 0 {
		delete(t.ids, table)
	}
}
