package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// ErrEmpty is wrapped by Read's error about a text without any word.
var ErrEmpty = textfile.ErrNone

// ErrMinCount is wrapped by Read's error about a text in which no word occurs
// Options.MinCount times.
var ErrMinCount = errors.New("no word is frequent enough")

// Read reads the text at path: a file, a folder (all files in it and below, in
// the order of their names, without those whose name begins with a dot), or
// standard input for "-".
//
// Files may be compressed with gzip, zstd, bzip2 or xz, whatever their names. A line
// is a sentence; the end of a file ends a line. Read skips a byte order mark. It
// replaces each byte that is not UTF-8 by U+FFFD and counts it in
// Stats.InvalidUTF8. So all words, and all files of vectors, are valid UTF-8 and
// load anywhere.
//
// Errors name the file and, where there is one, the byte: a file that is missing,
// damaged, cut off, in another format, or binary (with a NUL byte). They may wrap
// ErrEmpty, ErrMinCount and memory.ErrRoom, for a text that has too many words. If ctx is cancelled, Read returns its error at once. A
// read of a pipe or terminal that waits for input then ends later, when input comes.
func Read(ctx context.Context, path string, o Options) (*Corpus, error) {
	sources, err := textfile.Find(path)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	name := path
	if path == "-" {
		name = textfile.StdinName
	}
	return read(ctx, sources, name, o)
}

// ReadFrom reads the text from r, with the rules and errors of Read. The name
// stands for r in messages. If ctx is cancelled while r waits, r may still be in
// use after ReadFrom has returned.
func ReadFrom(ctx context.Context, r io.Reader, name string, o Options) (*Corpus, error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	return read(ctx, []textfile.Source{{Name: name, Size: -1, Open: open}}, name, o)
}

// defaultChunkSize, in bytes, lets the table of words share a processor's
// second-level cache with the chunk.
const defaultChunkSize = 256 << 10

// withDefaults returns the options with their zero values replaced. The error names
// an option out of its range.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.MinCount < 0:
		return o, fmt.Errorf("minimum count %d is negative", o.MinCount)
	case o.MaxSentence < 0:
		return o, fmt.Errorf("sentence length %d is negative", o.MaxSentence)
	case o.Threads < 0:
		return o, fmt.Errorf("number of threads %d is negative", o.Threads)
	case !o.Tokenizer.known():
		return o, fmt.Errorf("unknown tokenizer %d", int(o.Tokenizer))
	}
	setDefault(&o.MinCount, 1)
	setDefault(&o.MaxSentence, DefaultMaxSentence)
	setDefault(&o.Threads, runtime.GOMAXPROCS(0))
	setDefault(&o.chunkSize, defaultChunkSize)
	setDefault(&o.maxToken, MaxTokenBytes)
	return o, nil
}

func setDefault(value *int, standard int) {
	if *value == 0 {
		*value = standard
	}
}

// read makes a corpus in four parts, each of them parallel: cut the text into
// chunks and encode these with the numbers of each worker's own table; merge the
// tables; sort the frequent words, which are the vocabulary; write the tokens with
// the vocabulary's ids.
func read(ctx context.Context, sources []textfile.Source, name string, o Options) (*Corpus, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", name, err)
	}
	sources = textfile.With(sources, o.Field, o.Threads)
	cut, encoders, err := encodeText(ctx, sources, o)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	c := &Corpus{Stats: statsOf(cut, encoders)}
	done, err := memory.Room(mergeBytes(encoders, o.Threads))
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", name, explained(err, encoders))
	}
	vocabulary, ids, err := mergeTables(ctx, encoders, o, &c.Stats)
	done()
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", name, err)
	}
	c.Vocabulary = vocabulary
	if err := c.assemble(ctx, encoders, ids, o); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	return c, nil
}

// encodeText reads and encodes the text with one cutter and o.Threads encoders.
func encodeText(ctx context.Context, sources []textfile.Source, o Options) (*cutter, []*encoder, error) {
	ctx, stop := context.WithCancelCause(ctx) // by an encoder without memory
	defer stop(nil)
	chunks := make(chan chunk, o.Threads)
	spare := make(chan []byte, 2*o.Threads+1)
	cut := &cutter{
		sources: sources, tokenizer: o.Tokenizer,
		chunkSize: o.chunkSize, maxToken: o.maxToken, progress: o.Progress,
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
		encoders[i] = &encoder{tokenizer: o.Tokenizer, lowercase: o.Lowercase, maxToken: o.maxToken, table: newTable(1 << 9)}
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
	return fmt.Errorf("the text has %s different words or more until now: %w", terminal.Number(most), err)
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
			if e.table.err != nil {
				return e.table.err
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
		for _, word := range e.table.slots {
			s.Tokens += int64(word.count)
		}
	}
	s.Tokens += s.LongTokens
	return s
}

// assemble sets the tokens and sentences. ids[e][n] is the vocabulary's id of word
// number n in encoder e's table, or removed.
func (c *Corpus) assemble(ctx context.Context, encoders []*encoder, ids [][]uint32, o Options) error {
	var decoders []decoder
	for i, e := range encoders {
		for _, c := range e.chunks {
			decoders = append(decoders, decoder{encodedChunk: c, ids: ids[i]})
		}
		e.chunks = nil
	}
	slices.SortFunc(decoders, func(a, b decoder) int { return a.number - b.number })
	each := func(step func(*decoder)) error {
		return parallel.Do(ctx, o.Threads, len(decoders), func(i int) { step(&decoders[i]) })
	}
	if err := each((*decoder).measure); err != nil {
		return err
	}
	total := 0
	for i := range decoders {
		decoders[i].start = total
		total += decoders[i].used
	}
	done, err := memory.Room(4 * int64(total))
	if err != nil {
		return err
	}
	defer done()
	c.Tokens = make([]uint32, total)
	if err := each(func(d *decoder) { d.write(c.Tokens) }); err != nil {
		return err
	}
	c.setSentences(decoders, o.MaxSentence)
	if o.JoinLines {
		c.joinLines(o.MaxSentence)
	}
	return nil
}

// joinLines sets the bounds of the sentences of one stream.
func (c *Corpus) joinLines(maxSentence int) {
	c.Sentences = []int{0}
	for last := 0; last < len(c.Tokens); {
		last = min(last+maxSentence, len(c.Tokens))
		c.Sentences = append(c.Sentences, last)
	}
	c.Stats.Sentences, c.Stats.CutSentences = int64(len(c.Sentences)-1), 0
}

// removed is the id of words below the minimum count.
const removed = 1<<32 - 1

// A decoder writes the tokens of one encoded chunk.
type decoder struct {
	encodedChunk
	ids []uint32 // by the numbers of the chunk's encoder

	start    int      // index of the chunk's first token in Corpus.Tokens
	used     int      // the chunk's tokens whose words are in the vocabulary
	lineEnds []uint32 // numbers of used tokens before each line end, without repetitions
}

// measure sets used and lineEnds.
func (d *decoder) measure() {
	d.lineEnds = make([]uint32, 0, d.lines)
	for i := 0; i < len(d.codes); i++ {
		number := uint32(d.codes[i])
		if number == 0 {
			if n := len(d.lineEnds); n == 0 || int(d.lineEnds[n-1]) != d.used {
				d.lineEnds = append(d.lineEnds, uint32(d.used))
			}
			continue
		}
		if number == escape {
			number = uint32(d.codes[i+1]) | uint32(d.codes[i+2])<<16
			i += 2
		}
		if d.ids[number] != removed {
			d.used++
		}
	}
}

// write writes the chunk's tokens and frees its codes.
func (d *decoder) write(tokens []uint32) {
	tokens = tokens[d.start : d.start+d.used]
	for i := 0; i < len(d.codes); i++ {
		number := uint32(d.codes[i])
		if number == escape {
			number = uint32(d.codes[i+1]) | uint32(d.codes[i+2])<<16
			i += 2
		}
		if id := d.ids[number]; id != removed { // the line end, ids[0], is removed
			tokens[0] = id
			tokens = tokens[1:]
		}
	}
	d.codes = nil
}

// setSentences sets the sentence bounds and their part of Stats.
func (c *Corpus) setSentences(decoders []decoder, maxSentence int) {
	most := 1 + len(c.Tokens)/maxSentence
	for i := range decoders {
		most += len(decoders[i].lineEnds)
	}
	c.Sentences = append(make([]int, 0, most), 0)
	last := 0
	for _, d := range decoders {
		for _, lineEnd := range d.lineEnds {
			end := d.start + int(lineEnd)
			if end-last > maxSentence {
				c.Stats.CutSentences++
			}
			for last < end {
				last = min(last+maxSentence, end)
				c.Sentences = append(c.Sentences, last)
			}
		}
	}
	c.Stats.TokensUsed = int64(len(c.Tokens))
	c.Stats.Sentences = int64(len(c.Sentences) - 1)
}

// Size returns the stored (compressed) bytes of the files that Read reads at path:
// 0 for a path that Read refuses, and for a pipe or device.
func Size(path string) int64 {
	sources, _ := textfile.Find(path)
	sum := int64(0)
	for _, s := range sources {
		sum += max(s.Size, 0)
	}
	return sum
}
