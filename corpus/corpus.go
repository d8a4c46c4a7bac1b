package corpus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/corpus/wordcount"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A Corpus is a text as training reads it: sentences of word ids, without the
// words below the minimum count. It never changes; any number of goroutines may
// use it.
//
// Who reads it takes [Corpus.Text], which serves texts in memory and in files.
type Corpus struct {
	Vocabulary *Vocabulary

	// Tokens holds the ids of all sentences one after the other, and Sentences the
	// bounds of S sentences, S+1 of them: sentence s is
	// Tokens[Sentences[s]:Sentences[s+1]]. No sentence is empty. A text in a file has
	// neither, nor has one that is computed.
	Tokens    []uint32
	Sentences []int

	Stats Stats

	computed *encoded.Text // nil: the text is stored

	file   *encoded.File // nil: the text is in memory
	path   string        // of the file
	remove bool          // the file when it is closed

	fingerprintOnce sync.Once
	fingerprint     uint64
}

// A Text is the sentences of a Corpus, in memory, in a file or computed when they are read.
type Text = encoded.Text

// Text returns the sentences.
func (c *Corpus) Text() *Text {
	switch {
	case c.computed != nil:
		return c.computed
	case c.file != nil:
		return c.file.Text()
	}
	return encoded.New(c.Tokens, c.Sentences)
}

// GiveBack gives the memory of a text in a file back, whoever had read it. It reads as before.
func (c *Corpus) GiveBack() {
	if c != nil {
		c.Text().GiveBack()
	}
}

// ReaderBytes returns about the memory that so many readers of a text in a file have at a time;
// 0 of one in memory.
func (c *Corpus) ReaderBytes(readers int) int64 {
	if c == nil || c.file == nil {
		return 0
	}
	return c.Text().Bytes(readers)
}

// WithVocabulary returns the same sentences with a vocabulary that begins with the words
// of this one.
func (c *Corpus) WithVocabulary(v *Vocabulary) *Corpus {
	return &Corpus{
		Vocabulary: v, Tokens: c.Tokens, Sentences: c.Sentences, Stats: c.Stats,
		computed: c.computed, file: c.file, path: c.path, remove: c.remove,
	}
}

// Over returns the corpus of a text that is computed from words of the vocabulary. The fingerprint has to
// identify both.
func (v *Vocabulary) Over(text *Text, fingerprint uint64) *Corpus {
	c := &Corpus{Vocabulary: v, computed: text}
	c.Stats.Tokens, c.Stats.TokensUsed = int64(text.Tokens()), int64(text.Tokens())
	c.Stats.Types, c.Stats.Sentences, c.Stats.Lines = int64(v.Len()), int64(text.Sentences()), int64(text.Sentences())
	c.fingerprintOnce.Do(func() { c.fingerprint = fingerprint })
	return c
}

// Stats counts a text, and the part of it that reading kept. Unless the vocabulary was
// given, TokensUsed = Text().Tokens() = Vocabulary.Total.
type Stats = wordcount.Stats

// A Tokenizer is a rule that splits text into tokens.
type Tokenizer = wordcount.Tokenizer

// The tokenizers.
const (
	// Whitespace splits at Unicode white space, as strings.Fields does. It suits
	// text that is tokenized already.
	Whitespace = wordcount.Whitespace

	// Words keeps runs of letters, marks and digits, with single apostrophes inside
	// them, and drops everything else. It suits raw text. The typographic apostrophe
	// U+2019 inside a word becomes an ASCII one.
	Words = wordcount.Words
)

// MaxTokenBytes is the longest token, in bytes of the text, that can become a word.
const MaxTokenBytes = wordcount.MaxTokenBytes

// DefaultMaxSentence is the longest sentence, in tokens, if Options.MaxSentence is 0.
const DefaultMaxSentence = 1000

// Options says how a text becomes a Corpus. The zero value keeps every word
// and splits at white space.
type Options struct {
	// MinCount is the smallest number of occurrences that makes a word part of
	// the vocabulary. 0 is 1.
	MinCount int

	// MaxSentence is the most tokens of a sentence. A longer line becomes several
	// sentences of this length; no token is dropped. 0 is DefaultMaxSentence.
	MaxSentence int

	// JoinLines makes one stream of the text: lines do not end sentences, which all have
	// MaxSentence tokens but for the last one. The published FULL-W2V reads text so.
	JoinLines bool

	// Lowercase maps every letter to lower case, by Unicode's simple mapping.
	Lowercase bool

	// MaxWords is the most words that the vocabulary may have: the most frequent ones.
	// 0 is any number.
	MaxWords int

	// Vocabulary, if not nil, is the vocabulary, with counts of its own: MinCount and
	// MaxWords then have no meaning, and words that it lacks are removed.
	Vocabulary *Vocabulary

	// Tokenizer is the rule that splits text into tokens.
	Tokenizer Tokenizer

	// Field is the field of the objects in JSON lines, or the column of a parquet file,
	// that holds the text; a.b is a field of an object in an object. A line break in the
	// text ends a line. "" reads files of text.
	Field string

	// Threads is the number of workers; 0 is GOMAXPROCS. The result does not
	// depend on it.
	Threads int

	// Progress, if not nil, is called from time to time by one goroutine with the
	// stored (compressed) bytes read so far and their total, -1 if unknown. It is
	// not called after Open has returned, except when ctx was cancelled while a
	// read waited for input.
	Progress func(bytesRead, bytesTotal int64)

	// Tests set these; 0 are the defaults of package wordcount.
	chunkSize int
	maxToken  int
}

// Fingerprint identifies the content of the corpus: two corpora with equal
// vocabulary, counts, tokens and sentence bounds have the same one. It is their
// XXH64, the same on every machine. The first call computes it.
func (c *Corpus) Fingerprint() uint64 {
	c.fingerprintOnce.Do(func() { c.fingerprint = fingerprint(c.Vocabulary, c.Text()) })
	return c.fingerprint
}

func fingerprint(v *Vocabulary, text *Text) uint64 {
	f := NewFingerprinter(v, text.Tokens(), text.Sentences())
	f.AddTokens(text)
	f.AddStarts(text, 0, true)
	return f.Sum()
}

// A Fingerprinter computes the fingerprint of a corpus whose text is in several parts: the
// tokens of all, in order, and then their starts. Its state can go from one process
// to another.
type Fingerprinter struct{ h *xxhash.Digest }

// NewFingerprinter begins the fingerprint of a corpus of so many tokens and sentences.
func NewFingerprinter(v *Vocabulary, tokens, sentences int) Fingerprinter {
	h := xxhash.New()
	h.Write(memory.BytesOf([]uint64{uint64(len(v.Words)), uint64(tokens), uint64(sentences + 1)}))
	lengths := make([]uint64, len(v.Words))
	for id, word := range v.Words {
		lengths[id] = uint64(len(word))
		h.WriteString(word)
	}
	h.Write(memory.BytesOf(lengths))
	h.Write(memory.BytesOf(v.Counts))
	return Fingerprinter{h}
}

// AddTokens adds the tokens of the next part.
func (f Fingerprinter) AddTokens(text *Text) {
	text.Blocks(0, text.Tokens(), func(_ int, ids []uint32) bool {
		f.h.Write(memory.BytesOf(ids))
		return true
	})
}

// AddStarts adds the bounds of the sentences of the next part, whose first token has the
// number first in the whole text.
func (f Fingerprinter) AddStarts(text *Text, first int, last bool) {
	left := text.Sentences()
	if last {
		left++ // the end of the text
	}
	text.EachStart(func(starts []int) {
		starts = starts[:min(len(starts), left)]
		left -= len(starts)
		for some := range slices.Chunk(starts, 1<<12) {
			numbers := make([]uint64, len(some))
			for i, start := range some {
				numbers[i] = uint64(first + start)
			}
			f.h.Write(memory.BytesOf(numbers))
		}
	})
}

// State returns what another Fingerprinter goes on from.
func (f Fingerprinter) State() []byte {
	state, _ := f.h.MarshalBinary() // has no error
	return state
}

// GoOn takes a State.
func (f Fingerprinter) GoOn(state []byte) error { return f.h.UnmarshalBinary(state) }

// Sum returns the fingerprint.
func (f Fingerprinter) Sum() uint64 { return f.h.Sum64() }

// Hex writes a fingerprint, or another hash of 64 bits, in the 16 hexadecimal digits
// that files and messages use.
func Hex(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// CheckTokens returns an error if a token is not a word of the vocabulary.
func (c *Corpus) CheckTokens(ctx context.Context, threads int) error {
	const step = 1 << 20
	text, rows := c.Text(), c.Vocabulary.Len()
	if text.InFile() || text.Computed() { // a file was checked when it was opened
		return nil
	}
	return parallel.Try(ctx, threads, (text.Tokens()+step-1)/step, func(_, k int) (err error) {
		text.Blocks(k*step, min((k+1)*step, text.Tokens()), func(first int, ids []uint32) bool {
			for t, word := range ids {
				if int(word) >= rows {
					err = fmt.Errorf("token %d of the corpus is word %d, but the vocabulary has %d words", first+t, word, rows)
					return false
				}
			}
			return true
		})
		return err
	})
}

// Check returns an error if the corpus has no word, or if its parts do not fit together,
// which no corpus that was read is like. It leaves the tokens to CheckTokens.
func (c *Corpus) Check() error {
	if c == nil || c.Vocabulary == nil || c.Text().Tokens() == 0 || c.Vocabulary.Len() == 0 {
		return errors.New("the corpus is empty: there is no word to train")
	}
	if len(c.Vocabulary.Counts) != c.Vocabulary.Len() {
		return fmt.Errorf("the vocabulary has %d words but %d counts", c.Vocabulary.Len(), len(c.Vocabulary.Counts))
	}
	return c.Text().CheckBounds()
}
