package train

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A text is the corpus of a run, read.
type text struct {
	corpus      *corpus.Corpus     // nil once training does not need it any more
	vocabulary  *corpus.Vocabulary // set by setVocabulary
	saved       *corpus.Vocabulary // its words, with their counts in the texts of a start, too
	stats       corpus.Stats
	fingerprint func() uint64 // of the corpus; computed while other work goes on
	sum         func() tsvSum // of vocab.tsv, in the same way
	seconds     float64       // that reading took
	fileBytes   int64         // of the file of the text; 0: it is in memory
	close       func() error  // gives the file of the text back
}

// A tsvSum is the XXH64 of vocab.tsv, or why it cannot be written.
type tsvSum struct {
	hash uint64
	err  error
}

func newText(c *corpus.Corpus) *text {
	t := &text{
		corpus: c, stats: c.Stats,
		fingerprint: parallel.Begin(c.Fingerprint),
		close:       func() error { return nil },
	}
	t.setVocabulary(c.Vocabulary)
	return t
}

// setVocabulary sets the vocabulary, which is saved with other counts if they are given, and begins to compute the sum of what is saved.
func (t *text) setVocabulary(v *corpus.Vocabulary, counts ...uint64) {
	saved := v
	if counts != nil {
		saved = &corpus.Vocabulary{Words: v.Words, Counts: counts}
	}
	t.vocabulary, t.saved = v, saved
	t.sum = parallel.Begin(func() tsvSum {
		hash := xxhash.New()
		err := saved.WriteTSV(hash)
		return tsvSum{hash.Sum64(), err}
	})
}

// release gives the corpus back, once everything that training needs of it is elsewhere.
func (t *text) release() {
	sum := t.fingerprint()
	_ = t.close() // it was only read
	t.corpus, t.fingerprint, t.close = nil, func() uint64 { return sum }, func() error { return nil }
	memory.Collect()
}

// ReadText reads the text of a configuration once, for the runs that share it. The caller
// closes it. source, if not nil, is read instead of c.Corpus.
func ReadText(ctx context.Context, c settings.Config, source io.Reader, p *progress.Progress) (*corpus.Corpus, error) {
	guard, release, err := newMemoryGuard(&c, Options{})
	if err != nil {
		return nil, err
	}
	defer release()
	t, err := readText(ctx, &c, Options{Source: source}, guard, p)
	if err != nil {
		return nil, stopped(ctx, err)
	}
	return t.corpus, nil
}

// readText reads the text that the options or the configuration name.
func readText(ctx context.Context, c *settings.Config, o Options, guard memoryGuard, p *progress.Progress) (*text, error) {
	if o.Text != nil {
		return newText(o.Text), nil
	}
	if o.Source == nil && c.Graph == "" {
		if err := guard.checkText(corpus.Size(c.Corpus)); err != nil {
			return nil, err
		}
	}
	read, seconds, err := readCorpus(ctx, c, o, guard.Limit, p)
	if err != nil {
		return nil, err
	}
	t := newText(read)
	t.seconds, t.close = seconds, read.Close
	_, t.fileBytes, _ = read.File()
	return t, nil
}

// check refuses a training that is impossible with this text.
func (t *text) check(c *settings.Config) error {
	words := t.vocabulary.Len()
	if t.stats.TokensUsed == t.stats.Sentences {
		return fmt.Errorf("every sentence has one word, so no word has a context: "+
			"a line is a sentence, but %s seems to have one word a line", c.Input())
	}
	if err := wordcontext.CheckSample(t.vocabulary, c.Sample); err != nil || words > c.Negative {
		return err
	}
	message := fmt.Sprintf("--negative %d needs a vocabulary of at least %d words, "+
		"but the text has %d%s: lower --negative or --min-count, or use more text",
		c.Negative, c.Negative+1, words, ofAtLeast(" that occur", c.MinCount))
	switch {
	case words == c.MaxVocabulary:
		message = fmt.Sprintf("--negative %d needs a vocabulary of at least %d words, but the text has %d with --max-vocab %d: raise it, lower --negative, or use more text",
			c.Negative, c.Negative+1, words, c.MaxVocabulary)
	case c.Graph != "":
		message = fmt.Sprintf("--negative %d needs a graph of at least %d nodes, but --graph has %d: lower --negative",
			c.Negative, c.Negative+1, words)
	}
	// Too many negatives asked for is a wrong flag; a text too small for the
	// recipe is bad input.
	if c.Negative != settings.Defaults(c.Mode, c.Preset, c.Optimizer, c.Model).Negative {
		return &terminal.UsageError{Message: message}
	}
	return errors.New(message)
}

// hashes returns the fingerprint of the corpus and the XXH64 of vocab.tsv, as a
// checkpoint holds them.
func (t *text) hashes() (fingerprint, vocabulary string, err error) {
	sum := t.sum()
	return corpus.Hex(t.fingerprint()), corpus.Hex(sum.hash), sum.err
}
