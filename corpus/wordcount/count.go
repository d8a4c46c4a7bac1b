package wordcount

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// ErrEmpty is wrapped by Count's error about a text without any word.
var ErrEmpty = textfile.ErrNone

// ErrMinCount is wrapped by Count's error about a text in which no word occurs
// Options.MinCount times, or none of a given vocabulary at all.
var ErrMinCount = errors.New("no word is frequent enough")

// Options says how a text is split and which words are counted.
type Options struct {
	MinCount  int       // occurrences of a word of the vocabulary, at least
	MaxWords  int       // of the vocabulary: the most frequent ones; 0: no limit
	Lowercase bool      // map every letter to lower case, by Unicode's simple mapping
	Tokenizer Tokenizer // the rule that splits text into tokens
	Field     string    // of records that holds the text: see package textfile; empty: files of text
	Threads   int       // at least 1

	// Vocabulary is the vocabulary, if it is given; then MinCount and MaxWords have no
	// meaning. Words that it lacks are left out.
	Vocabulary []string

	// Progress, if not nil, is called from time to time by one goroutine with the stored
	// bytes read so far and their total, -1 if unknown.
	Progress func(bytesRead, bytesTotal int64)

	ChunkSize int // bytes; 0: defaultChunkSize
	MaxToken  int // bytes of the longest word, at least longestInKey; 0: MaxTokenBytes

	// Disk, if not nil, takes what does not fit into memory.
	Disk *Disk
}

// Disk says what goes to the disk. Nothing does if nil.
type Disk struct {
	Folder string // for temporary files
	Tables int64  // memory of all tables of words, in bytes, about
	Codes  int64  // memory of the encoded text, in bytes, before more of it goes to the disk
}

// defaultChunkSize, in bytes, lets the table of words share a processor's
// second-level cache with the chunk.
const defaultChunkSize = 256 << 10

// A Result is a text that was counted. Close it.
type Result struct {
	Words  []string // of the vocabulary, by id
	Counts []uint64 // by id; nil if the vocabulary was given
	Stats  Stats    // without sentences

	chunks []encodedChunk
	ids    [][]uint32 // by table and number; nil: the tables are on the disk
	disk   *disk
}

// littleText is the size of a text whose chunks are not worth a collection of garbage. That wakes every thread, and a
// comparison reads many small texts.
const littleText = 1 << 20

// Count reads the text of all files in order and makes the vocabulary: the words that
// are frequent enough, by falling count, those of equal count in the order of their bytes.
//
// It works in three parts, each of them parallel: cut the text into chunks and encode
// these with the numbers of each worker's own table; merge the tables; sort the frequent
// words, which are the vocabulary. [Result.Pieces] and [Result.Stream] then hand out the
// tokens with the vocabulary's ids.
func Count(ctx context.Context, in *Input, o Options) (_ *Result, err error) {
	o.ChunkSize, o.MaxToken = cmp.Or(o.ChunkSize, defaultChunkSize), cmp.Or(o.MaxToken, MaxTokenBytes)
	o.Threads = min(o.Threads, workers(in, o.ChunkSize))
	d := newDisk(o.Disk, o.Threads)
	r := &Result{disk: d}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	cut, encoders, err := encodeText(ctx, textfile.With(in.sources, o.Field, o.Threads), o, d)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	r.Stats = statsOf(cut, encoders)
	for _, e := range encoders {
		r.chunks = append(r.chunks, e.chunks...)
		e.chunks = nil
	}
	slices.SortFunc(r.chunks, func(a, b encodedChunk) int { return a.number - b.number })
	if r.Stats.Bytes > littleText {
		runtime.GC() // the tables to come can have the memory of the chunks
	}
	if d.spilled() {
		err = r.mergeSpilled(ctx, encoders, o)
	} else {
		err = r.merge(ctx, encoders, o)
	}
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", in.name, err)
	}
	return r, nil
}

// workers is how many threads are worth their memory: each has a table of words, and in a short
// text most words would be in each of the tables, or not, as the chunks happen to be taken.
func workers(in *Input, chunkSize int) int {
	const chunks = 16 // for each worker
	size := int64(0)
	for _, f := range in.Files() {
		if f.Size < 0 {
			return math.MaxInt
		}
		size += f.Size
	}
	return int(size/int64(chunks*chunkSize)) + 1
}

// merge makes the vocabulary of tables in memory.
func (r *Result) merge(ctx context.Context, encoders []*encoder, o Options) error {
	done, err := memory.Room(mergeBytes(encoders, o.Threads))
	if err != nil {
		return explained(err, encoders)
	}
	defer done()
	r.Words, r.Counts, r.ids, err = mergeTables(ctx, encoders, o, &r.Stats)
	return err
}

// Close removes temporary files.
func (r *Result) Close() { r.disk.close() }

// encodeText reads and encodes the text with one cutter and o.Threads encoders.
func encodeText(ctx context.Context, sources []textfile.Source, o Options, d *disk) (*cutter, []*encoder, error) {
	ctx, stop := context.WithCancelCause(ctx) // by an encoder without memory
	defer stop(nil)
	chunks := make(chan chunk, o.Threads)
	spare := make(chan []byte, 2*o.Threads+1)
	cut := &cutter{
		sources: sources, tokenizer: o.Tokenizer,
		chunkSize: o.ChunkSize, maxToken: o.MaxToken, progress: o.Progress,
		chunks: chunks, spare: spare,
	}
	var cutErr error
	cutDone := make(chan struct{})
	go func() {
		defer close(cutDone)
		cutErr = cut.run(ctx)
	}()

	encoders := make([]*encoder, o.Threads)
	var working sync.WaitGroup
	for i := range encoders {
		encoders[i] = newEncoder(o, d)
		if d == nil {
			encoders[i].number = i
		}
		working.Go(func() {
			if err := encoders[i].run(ctx, chunks, spare); err != nil {
				stop(err)
			}
		})
	}
	working.Wait()
	select {
	case <-cutDone:
	case <-ctx.Done():
		// The cutter ends soon, or waits for input that may never come.
		select {
		case <-cutDone:
		case <-time.After(100 * time.Millisecond):
		}
		return nil, nil, explained(context.Cause(ctx), encoders)
	}
	if cause := context.Cause(ctx); cause != nil { // then the encoders may have left chunks
		cutErr = cause
	}
	return cut, encoders, explained(cutErr, encoders)
}

// explained tells with an error about memory, and leaves others as they are, how many
// words there were: they take most of the memory.
func explained(err error, encoders []*encoder) error {
	if !errors.Is(err, memory.ErrRoom) {
		return err
	}
	most := 0 // some words are in several tables
	for _, e := range encoders {
		if e.table != nil {
			most = max(most, e.table.used)
		}
	}
	return fmt.Errorf("the text has at least %s different words so far: %w", terminal.Number(most), err)
}

// run encodes chunks until there are no more. The error is one of memory.
func (e *encoder) run(ctx context.Context, chunks <-chan chunk, spare chan<- []byte) error {
	for {
		select {
		case c, more := <-chunks:
			if !more {
				return nil
			}
			e.encode(c)
			if err := e.spill(); err != nil {
				return err
			}
			select {
			case spare <- c.text:
			default:
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// statsOf adds up the counts of cutter and encoders.
func statsOf(cut *cutter, encoders []*encoder) Stats {
	s := Stats{Files: cut.files, Bytes: cut.bytes, LongTokens: cut.longTokens, InvalidUTF8: cut.invalidUTF8}
	for _, e := range encoders {
		s.LongTokens += e.longTokens
		s.InvalidUTF8 += e.invalidUTF8
		for _, c := range e.chunks {
			s.Lines += int64(c.lines)
		}
		s.Tokens += e.table.tokens() + e.spilledTokens
	}
	s.Tokens += s.LongTokens
	return s
}
