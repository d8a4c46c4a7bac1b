package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/corpus/wordcount"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// Storage says where the sentences of a text go. The zero value is memory.
type Storage struct {
	// File is the file for a text that memory is too small for. If it holds the same
	// text already, made with the same options, nothing is read. Empty: memory only.
	File string

	// Always writes the file whatever the size of the text.
	Always bool

	// Remove removes the file when the Corpus is closed.
	Remove bool

	// Memory is about how much memory reading may take, in bytes, before words and text go
	// to the disk. A text that surely fits stays in memory altogether. 0 is DefaultMemory.
	Memory int64

	// Writing, if not nil, is called while the file is written, with the share of the
	// text that is in it, of total.
	Writing func(done, total int64)
}

// DefaultMemory is the memory of reading if Storage.Memory is 0, in bytes.
const DefaultMemory = 256 << 20

// Open reads the text at path into memory or into a file, as the storage says: a file, a folder (all files in it and below,
// in the order of their names, without those whose name begins with a dot), or standard input for "-". Close the Corpus.
//
// Files may be compressed with gzip, zstd, bzip2 or xz, whatever their names. A line
// is a sentence; the end of a file ends a line. Open skips a byte order mark. It
// replaces each byte that is not UTF-8 by U+FFFD and counts it in
// Stats.InvalidUTF8. So all words, and all files of vectors, are valid UTF-8 and
// load anywhere.
//
// Errors name the file and, where there is one, the byte: a file that is missing,
// damaged, cut off, in another format, or binary (with a NUL byte). They may wrap
// ErrEmpty, ErrMinCount, or memory.ErrRoom if the text has too many words. A text that changes while it is read is an
// error, and so is a file of the storage that is there and no encoded text, or a damaged one: remove it then. Of an encoded
// text that was made of another text, or with other options, nothing is left.
//
// If ctx is cancelled, Open returns its error at once. A read of a pipe or terminal that
// waits for input then ends later, when input comes.
func Open(ctx context.Context, path string, o Options, s Storage) (*Corpus, error) {
	in, err := wordcount.Find(path)
	if err != nil {
		return nil, err
	}
	return open(ctx, in, o, s)
}

// OpenFrom is Open of r; the name stands for r in messages. If ctx is cancelled while r waits, r may still be in use after
// OpenFrom has returned.
func OpenFrom(ctx context.Context, r io.Reader, name string, o Options, s Storage) (*Corpus, error) {
	return open(ctx, wordcount.From(r, -1, name), o, s)
}

func open(ctx context.Context, in *wordcount.Input, o Options, s Storage) (*Corpus, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", in.Name(), err)
	}
	if s.File == "" {
		return read(ctx, in, o)
	}
	s.Memory = cmp.Or(s.Memory, DefaultMemory)
	before, err := identify(in)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	key := before.key(&o)
	if c, err := reuse(s, key, o.Threads); c != nil || err != nil {
		return c, err
	}
	counting := o.counting()
	disk := &wordcount.Disk{Folder: filepath.Dir(s.File)}
	if before.fits(s.Memory) && !s.Always {
		disk.Tables, disk.Codes = memory.Left()/8, math.MaxInt64
	} else {
		o.Threads = min(o.Threads, readers(s.Memory))
		disk.Tables, disk.Codes = s.Memory/3, s.Memory/6
	}
	counting.Disk, counting.Threads = disk, o.Threads
	counted, err := wordcount.Count(ctx, in, counting)
	if err != nil {
		return nil, err
	}
	defer counted.Close()
	if err := before.same(in); err != nil {
		return nil, fmt.Errorf("corpus %s: %w", in.Name(), err)
	}
	if !s.Always && !counted.OnDisk() {
		return inMemory(ctx, counted, o)
	}
	c, err := write(ctx, counted, key, o, s)
	if err != nil {
		return nil, fmt.Errorf("corpus %s: %w", in.Name(), err)
	}
	return c, nil
}

// readers is how many threads may read a text in so much memory. Each takes 16 MB: a table, and
// chunks of text and parts of the file that it makes. More of them are no faster from some eight
// on: one thread cuts the text into chunks.
func readers(memory int64) int { return int(max(memory>>24, 1)) }

// reuse opens the file if it is there and has the key; nil without an error means that it
// is to be made.
func reuse(s Storage, key uint64, threads int) (*Corpus, error) {
	there, err := encoded.Key(s.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: remove it, or name another place; then the text is read again", err)
	case key == 0 || there != key:
		return nil, nil
	}
	c, err := OpenFile(s.File, threads)
	if err != nil {
		return nil, fmt.Errorf("%w: remove it, or name another place; then the text is read again", err)
	}
	c.remove = s.Remove
	return c, nil
}

// OpenFile opens the encoded text in a file. Close the Corpus.
func OpenFile(path string, threads int) (*Corpus, error) {
	f, err := encoded.Open(path, threads)
	if err != nil {
		return nil, err
	}
	words, counts := f.Vocabulary()
	for id, word := range words {
		if !plainWord(word) {
			return nil, errors.Join(fmt.Errorf("%s: %w: word number %d is %q", path, encoded.ErrCorrupt, id, word), f.Close())
		}
	}
	// Two equal words, which only a forged file has, do no harm. To look for them would take
	// an index of all words.
	c := &Corpus{Vocabulary: &Vocabulary{Words: words, Counts: counts}, Stats: statsOf(f.Stats()), file: f, path: path}
	c.fingerprintOnce.Do(func() { c.fingerprint = f.Fingerprint() })
	return c, nil
}

// IsFile reports whether a file that begins so is an encoded text, perhaps a damaged one.
func IsFile(head []byte) bool { return encoded.IsText(head) }

// write writes the file of a counted text and opens it.
func write(ctx context.Context, counted *wordcount.Result, key uint64, o Options, s Storage) (*Corpus, error) {
	c := newCorpus(counted, o)
	width := encoded.Width(c.Vocabulary.Len())
	need := int64(width)*c.Stats.TokensUsed + 4*min(c.Stats.Lines, c.Stats.TokensUsed)*2 + 2*c.Vocabulary.Bytes()
	if free, known := machine.FreeSpace(filepath.Dir(s.File)); known && need > free {
		return nil, fmt.Errorf("the encoded text takes about %s, and %s has %s free: name a folder on another disk with --cache",
			terminal.Bytes(need), filepath.Dir(s.File), terminal.Bytes(free))
	}
	done := int64(0)
	err := encoded.Write(s.File, encoded.Source{
		Key: key, Words: c.Vocabulary.Words, Counts: c.Vocabulary.Counts, MaxSentence: o.MaxSentence, Threads: o.Threads,
		Fill: func(w *encoded.Writer) error {
			err := counted.Stream(ctx, o.Threads, width, func(p *wordcount.Chunk) error {
				if done += int64(len(p.IDs) / width); s.Writing != nil {
					s.Writing(done, c.Stats.TokensUsed)
				}
				if o.JoinLines {
					return w.Add(p.IDs, nil)
				}
				return w.Add(p.IDs, p.LineEnds)
			})
			if err == nil && o.JoinLines {
				err = w.Add(nil, []uint32{0}) // the one end
			}
			return err
		},
		Finish: func(text *encoded.Text, cut int64) (uint64, [encoded.Stats]int64) {
			if o.JoinLines {
				cut = 0
			}
			c.Stats.Sentences, c.Stats.CutSentences = int64(text.Sentences()), cut
			return fingerprint(c.Vocabulary, text), numbersOf(&c.Stats)
		},
	})
	if err != nil {
		return nil, err
	}
	if c.file, err = encoded.OpenWritten(s.File); err != nil {
		return nil, err
	}
	c.path = s.File
	if c.remove = s.Remove; s.Remove && os.Remove(s.File) == nil {
		c.remove = false // the system keeps the bytes until they are not mapped any more
	}
	c.fingerprintOnce.Do(func() { c.fingerprint = c.file.Fingerprint() })
	return c, nil
}

// Close gives the file of the text back, if it has one. The Corpus is of no use afterwards.
func (c *Corpus) Close() error {
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	if c.remove {
		err = errors.Join(err, os.Remove(c.path))
	}
	return err
}

// File returns the path, the bytes and the bytes of an id of the file of the text; "" for a
// text in memory.
func (c *Corpus) File() (path string, bytes int64, width int) {
	if c.file == nil {
		return "", 0, 0
	}
	return c.path, c.file.Bytes(), c.file.Width()
}

// statsFields lists the numbers of Stats in the order of the file.
func statsFields(s *Stats) []*int64 {
	return []*int64{
		&s.Files, &s.Bytes, &s.Lines, &s.Tokens, &s.Types, &s.TokensUsed, &s.Sentences, &s.CutSentences,
		&s.InvalidUTF8, &s.LongTokens, &s.Punctuated, &s.Capitalized,
	}
}

func numbersOf(s *Stats) (numbers [encoded.Stats]int64) {
	for i, field := range statsFields(s) {
		numbers[i] = *field
	}
	return numbers
}

func statsOf(numbers [encoded.Stats]int64) (s Stats) {
	for i, field := range statsFields(&s) {
		*field = numbers[i]
	}
	return s
}
