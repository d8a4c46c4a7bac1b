package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/settings"
)

// A text is the corpus of a run, read.
type text struct {
	corpus      *corpus.Corpus // nil once training does not need it any more
	vocabulary  *corpus.Vocabulary
	stats       corpus.Stats
	fingerprint func() uint64 // of the corpus; computed while other work goes on
	seconds     float64       // that reading took
}

func newText(c *corpus.Corpus) *text {
	return &text{corpus: c, vocabulary: c.Vocabulary, stats: c.Stats, fingerprint: parallel.Begin(c.Fingerprint)}
}

// ReadText reads the text of a configuration once, for the runs that share it.
// source, if not nil, is read instead of c.Corpus.
func ReadText(ctx context.Context, c settings.Config, source io.Reader, p *progress.Progress) (*corpus.Corpus, error) {
	guard, release, err := newMemoryGuard(&c)
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
	if o.Source == nil {
		if err := guard.checkText(corpus.Size(c.Corpus)); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	stage := p.Stage("reading text", 0)
	defer stage.Stop()
	options, err := c.TextOptions()
	if err != nil {
		return nil, err
	}
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, func() string { return terminal.Bytes(done) })
	}
	read, err := readCorpus(ctx, c.Corpus, o.Source, options)
	if errors.Is(err, corpus.ErrMinCount) {
		return nil, fmt.Errorf("%w; lower --min-count, or use more text", err)
	}
	if errors.Is(err, memory.ErrRoom) {
		return nil, fmt.Errorf("%w; all words are counted before --min-count leaves rare ones out, so that does not help: take --threads 1 (now %d, and each counts on its own), --lowercase or --tokenizer words, use less text (without numbers and identifiers) or more memory", err, c.ThreadCount())
	}
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // the garbage of reading is large; M can have it
	t := newText(read)
	t.seconds = time.Since(start).Seconds()
	stage.Done("Text: %s words, %s of them used (%s different, each at least %d times) in %s sentences, read in %s",
		terminal.Number(t.stats.Tokens), terminal.Number(t.stats.TokensUsed), terminal.Number(t.vocabulary.Len()), c.MinCount,
		terminal.Number(t.stats.Sentences), terminal.Duration(t.seconds))
	t.noteOddities(c, p)
	return t, nil
}

// readCorpus reads from source, or if that is nil from path. A path that cannot
// be opened gets a message about --corpus.
func readCorpus(ctx context.Context, path string, source io.Reader, o corpus.Options) (*corpus.Corpus, error) {
	if source != nil {
		return corpus.ReadFrom(ctx, source, path, o)
	}
	if path != "-" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--corpus %s: there is no such file or folder", path)
		} else if err != nil {
			return nil, fmt.Errorf("--corpus: %w", err)
		}
	}
	return corpus.Read(ctx, path, o)
}

// noteOddities tells the user about surprises in the text.
func (t *text) noteOddities(c *settings.Config, p *progress.Progress) {
	if n := t.stats.InvalidUTF8; n > 0 {
		p.Notef("Warning: the text has %s of invalid UTF-8, read as U+FFFD", terminal.Quantity(terminal.Number(n), "byte"))
	}
	if n := t.stats.LongTokens; n > 0 {
		p.Notef("Warning: left out %s longer than %s bytes", terminal.Quantity(terminal.Number(n), "word"), terminal.Number(corpus.MaxTokenBytes))
	}
	if n := t.stats.CutSentences; n > 0 {
		p.Notef("Note: cut %s of more than %s words into sentences of that length; nothing was dropped", terminal.Quantity(terminal.Number(n), "line"), terminal.Number(c.MaxSentence))
	}
	if signs, advice := t.stats.Raw(); signs != "" {
		p.Notef("Note: %s: this looks like raw text. Add %s, unless that is meant", signs, advice)
	}
}

// check refuses a training that is impossible with this text.
func (t *text) check(c *settings.Config) error {
	words := t.vocabulary.Len()
	if t.stats.TokensUsed == t.stats.Sentences {
		return fmt.Errorf("every sentence has one word, so no word has a context: a line is a sentence, but %s seems to have one word a line", c.Corpus)
	}
	if words > c.Negative {
		return nil
	}
	message := fmt.Sprintf("--negative %d needs a vocabulary of at least %d words, but the text has %d that occur at least %d times: lower --negative or --min-count, or use more text",
		c.Negative, c.Negative+1, words, c.MinCount)
	// Too many negatives asked for is a wrong flag; a text too small for the
	// recipe is bad input.
	if c.Negative != settings.Defaults(c.Mode, c.Preset, c.Optimizer).Negative {
		return &terminal.UsageError{Message: message}
	}
	return errors.New(message)
}

// hashes returns the fingerprint of the corpus and the XXH64 of vocab.tsv, as a
// checkpoint holds them.
func (t *text) hashes() (fingerprint, vocabulary string, err error) {
	hash := xxhash.New()
	err = t.vocabulary.WriteTSV(hash)
	return corpus.Hex(t.fingerprint()), corpus.Hex(hash.Sum64()), err
}
