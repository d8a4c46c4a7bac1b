package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/w2vcl/w2vcl/corpus/wordcount"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// ErrEmpty is wrapped by Open's error about a text without any word.
var ErrEmpty = wordcount.ErrEmpty

// ErrMinCount is wrapped by Open's error about a text in which no word occurs
// Options.MinCount times.
var ErrMinCount = wordcount.ErrMinCount

// withDefaults returns the options with their zero values replaced. The error names
// an option out of its range.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.MinCount < 0:
		return o, fmt.Errorf("minimum count %d is negative", o.MinCount)
	case o.MaxSentence < 0:
		return o, fmt.Errorf("sentence length %d is negative", o.MaxSentence)
	case o.MaxWords < 0:
		return o, fmt.Errorf("number of words %d is negative", o.MaxWords)
	case o.Threads < 0:
		return o, fmt.Errorf("number of threads %d is negative", o.Threads)
	case !o.Tokenizer.Known():
		return o, fmt.Errorf("unknown tokenizer %d", int(o.Tokenizer))
	}
	o.MinCount = cmp.Or(o.MinCount, 1)
	o.MaxSentence = cmp.Or(o.MaxSentence, DefaultMaxSentence)
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	return o, nil
}

// ReadLines reads the text at path, as [Open] does, and calls each with the tokens of
// every line, in order. A line of more than MaxSentence tokens comes in pieces; end
// is true with the last one. Lines without tokens come, too. The tokens are valid
// until each returns; their strings stay. Memory grows with the number of different
// words, not with the text. MinCount and Threads have no meaning here.
//
// An error of each ends the reading and is returned.
func ReadLines(ctx context.Context, path string, o Options, each func(tokens []string, end bool) error) (Stats, error) {
	in, err := wordcount.Find(path)
	if err != nil {
		return Stats{}, err
	}
	return readLines(ctx, in, o, each)
}

// ReadLinesFrom is ReadLines of r; the name stands for r in messages.
func ReadLinesFrom(ctx context.Context, r io.Reader, name string, o Options, each func(tokens []string, end bool) error) (Stats, error) {
	return readLines(ctx, wordcount.From(r, -1, name), o, each)
}

func readLines(ctx context.Context, in *wordcount.Input, o Options, each func(tokens []string, end bool) error) (Stats, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	return wordcount.Lines(ctx, in, o.counting(), o.MaxSentence, each)
}

// counting returns the options of package wordcount.
func (o *Options) counting() wordcount.Options {
	w := wordcount.Options{
		MinCount: o.MinCount, MaxWords: o.MaxWords, Lowercase: o.Lowercase, Tokenizer: o.Tokenizer, Field: o.Field, Threads: o.Threads,
		Progress: o.Progress, ChunkSize: o.chunkSize, MaxToken: o.maxToken,
	}
	if o.Vocabulary != nil {
		w.Vocabulary = o.Vocabulary.Words
	}
	return w
}

func read(ctx context.Context, in *wordcount.Input, o Options) (*Corpus, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", in.Name(), err)
	}
	counted, err := wordcount.Count(ctx, in, o.counting())
	if err != nil {
		return nil, err
	}
	defer counted.Close()
	return inMemory(ctx, counted, o)
}

// newCorpus returns the corpus of a counted text, still without its sentences.
func newCorpus(counted *wordcount.Result, o Options) *Corpus {
	c := &Corpus{Stats: counted.Stats, Vocabulary: o.Vocabulary}
	if c.Vocabulary == nil {
		c.Vocabulary = &Vocabulary{Words: counted.Words, Counts: counted.Counts}
	}
	return c
}

// inMemory sets the tokens and sentences of a counted text.
func inMemory(ctx context.Context, counted *wordcount.Result, o Options) (*Corpus, error) {
	c := newCorpus(counted, o)
	pieces, err := counted.Pieces(ctx, o.Threads)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	starts, total := make([]int, len(pieces)), 0
	for i := range pieces {
		starts[i] = total
		total += pieces[i].Used
	}
	done, err := memory.Room(4 * int64(total))
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer done()
	c.Tokens = make([]uint32, total)
	if err := parallel.Do(ctx, o.Threads, len(pieces), func(i int) {
		pieces[i].Write(c.Tokens[starts[i]:][:pieces[i].Used])
	}); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	if o.JoinLines {
		c.joinLines(o.MaxSentence)
	} else {
		c.setSentences(pieces, starts, o.MaxSentence)
	}
	return c, nil
}

// setSentences sets the sentence bounds and their part of Stats.
func (c *Corpus) setSentences(pieces []wordcount.Piece, starts []int, maxSentence int) {
	most := 1 + len(c.Tokens)/maxSentence
	for i := range pieces {
		most += len(pieces[i].LineEnds)
	}
	c.Sentences = append(make([]int, 0, most), 0)
	last := 0
	for i := range pieces {
		for _, lineEnd := range pieces[i].LineEnds {
			end := starts[i] + int(lineEnd)
			if end-last > maxSentence {
				c.Stats.CutSentences++
			}
			for last < end {
				last = min(last+maxSentence, end)
				c.Sentences = append(c.Sentences, last)
			}
		}
	}
	c.Stats.Sentences = int64(len(c.Sentences) - 1)
}

// joinLines sets the bounds of the sentences of one stream.
func (c *Corpus) joinLines(maxSentence int) {
	c.Sentences = []int{0}
	for last := 0; last < len(c.Tokens); {
		last = min(last+maxSentence, len(c.Tokens))
		c.Sentences = append(c.Sentences, last)
	}
	c.Stats.Sentences = int64(len(c.Sentences) - 1)
}

// Size returns the stored (compressed) bytes of the files that [Open] reads at path:
// 0 for a path that Open refuses, and for a pipe or device.
func Size(path string) int64 {
	sum := int64(0)
	if in, err := wordcount.Find(path); err == nil {
		for _, f := range in.Files() {
			sum += max(f.Size, 0)
		}
	}
	return sum
}

// ReadPart reads part number part of parts of the text at path: see [wordcount.Input.Part].
// The parts together are the text. A part without a word is an empty Corpus.
func ReadPart(ctx context.Context, path string, part, parts int, o Options) (*Corpus, error) {
	in, err := wordcount.Find(path)
	if err != nil {
		return nil, err
	}
	if in, err = in.Part(part, parts, o.Field != ""); err != nil {
		return nil, err
	}
	c, err := read(ctx, in, o)
	if errors.Is(err, ErrEmpty) {
		stats, err := readLines(ctx, in, o, func([]string, bool) error { return nil }) // of blank lines
		return &Corpus{Vocabulary: &Vocabulary{}, Sentences: []int{0}, Stats: stats}, err
	}
	return c, err
}
