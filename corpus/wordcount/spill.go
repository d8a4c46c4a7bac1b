package wordcount

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// A disk takes the tables that are full and the codes that are many. A nil one takes
// nothing.
type disk struct {
	folder      string
	allTables   int64 // bytes of the tables of all encoders
	perTable    int64 // bytes of an encoder's table before it is written
	codesMemory int64 // bytes of codes that stay in memory

	codes atomic.Int64 // bytes of codes in memory

	sync.Mutex
	tables []int             // words of each table
	runs   [partitions][]run // of the tables on the disk, by the hash values of words
	used   bool              // a table was written

	making sync.Mutex
	file   *atomicfile.Scratch // nil until something is written

	translation *translation // of the tables on the disk, once they are merged
}

// partitions is the number of parts in which the words on the disk are merged, by the low
// bits of their hash values: the high bits are their places in a table.
const partitions = 1 << 8

// A run is a part of the file: words of one table and one partition.
type run struct {
	table  int
	words  int
	offset int64
	bytes  int64
}

func newDisk(o *Disk, threads int) *disk {
	if o == nil {
		return nil
	}
	return &disk{folder: o.Folder, allTables: o.Tables, perTable: o.Tables / int64(threads), codesMemory: o.Codes}
}

// append writes bytes and returns where they are.
func (d *disk) append(b []byte) (offset int64, err error) {
	d.making.Lock()
	if d.file == nil {
		d.file, err = atomicfile.NewScratch(d.folder)
	}
	d.making.Unlock()
	if err != nil {
		return 0, err
	}
	return d.file.Append(b)
}

func (d *disk) written() bool { return d != nil && d.file != nil }

func (d *disk) close() {
	if d.written() {
		_ = d.file.Close() // nobody needs it any more
		d.file = nil
	}
}

func (d *disk) spilled() bool { return d != nil && d.used }

// newTable numbers a table.
func (d *disk) newTable() int {
	d.Lock()
	defer d.Unlock()
	d.tables = append(d.tables, 0)
	return len(d.tables) - 1
}

// spill writes the codes of the last chunk if there are many, and the table if it is full.
func (e *encoder) spill() error {
	if e.table.err != nil {
		return e.table.err
	}
	if e.disk == nil {
		return nil
	}
	last := &e.chunks[len(e.chunks)-1]
	if size := 2 * int64(len(last.codes)); e.disk.codes.Add(size) > e.disk.codesMemory {
		e.disk.codes.Add(-size)
		offset, err := e.disk.append(memory.BytesOf(last.codes))
		if err != nil {
			return err
		}
		last.offset, last.length, last.codes = offset, len(last.codes), nil
	}
	if !e.table.full(e.disk.perTable) {
		return nil
	}
	return e.spillTable()
}

func (e *encoder) spillTable() error {
	e.spilledTokens += e.table.tokens()
	if err := e.disk.write(e.number, e.table, &e.spilling); err != nil {
		return err
	}
	if e.table.bytes() > e.disk.perTable {
		e.table = newTable(1)
	} else {
		e.table.clear()
	}
	e.number = e.disk.newTable()
	return nil
}

// write writes the words of a table: for each its number, count, length and bytes.
func (d *disk) write(number int, t *table, buffers *[partitions][]byte) error {
	var words [partitions]int
	for p := range buffers {
		buffers[p] = buffers[p][:0]
	}
	for at := range t.slots {
		s := &t.slots[at]
		if s.id == 0 {
			continue
		}
		p := s.hash() % partitions
		b := binary.LittleEndian.AppendUint32(buffers[p], s.id)
		b = binary.AppendUvarint(b, s.count)
		b = binary.AppendUvarint(b, uint64(t.wordLength(s)))
		buffers[p] = t.appendWord(b, s)
		words[p]++
	}
	d.Lock()
	d.used, d.tables[number] = true, t.used
	d.Unlock()
	for p := range buffers {
		b := buffers[p]
		if len(b) == 0 {
			continue
		}
		offset, err := d.append(b)
		if err != nil {
			return err
		}
		d.Lock()
		d.runs[p] = append(d.runs[p], run{number, words[p], offset, int64(len(b))})
		d.Unlock()
	}
	return nil
}

var errDamagedScratch = errors.New("a temporary file is damaged")

// each calls do for every word of a run.
func (d *disk) each(r run, buffer []byte, do func(number uint32, count uint64, word []byte)) ([]byte, error) {
	if int64(cap(buffer)) < r.bytes {
		buffer = make([]byte, r.bytes)
	}
	b := buffer[:r.bytes]
	if err := d.file.ReadAt(b, r.offset); err != nil {
		return buffer, err
	}
	for range r.words {
		if len(b) < 4 {
			return buffer, errDamagedScratch
		}
		number := binary.LittleEndian.Uint32(b)
		count, n := binary.Uvarint(b[4:])
		if n <= 0 {
			return buffer, errDamagedScratch
		}
		b = b[4+n:]
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return buffer, errDamagedScratch
		}
		do(number, count, b[n:n+int(length)])
		b = b[n+int(length):]
	}
	return buffer, nil
}

// load returns the codes of a chunk, from the disk if they are there.
func (d *disk) load(c *encodedChunk, buffer []uint16) ([]uint16, error) {
	if c.length == 0 { // in memory
		return c.codes, nil
	}
	if cap(buffer) < c.length {
		buffer = make([]uint16, c.length, c.length+c.length/4)
	}
	buffer = buffer[:c.length]
	if err := d.file.ReadAt(memory.BytesOf(buffer), c.offset); err != nil {
		return nil, fmt.Errorf("the encoded text: %w", err)
	}
	return buffer, nil
}
