package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/subword"
)

// A job is a run up to its trainer: the text is read, M is there, and what
// training will take can be told.
type job struct {
	config      Config
	mode        mode
	dry         bool           // leave no files: M is built but not written
	extras      Extras         // what a program adds to the settings
	from        *savedState    // where the run goes on; nil: at its start
	guard       memoryGuard    // of the memory there is
	corpus      *corpus.Corpus // nil once training needs it no more
	vocabulary  *corpus.Vocabulary
	fingerprint func() uint64     // of the corpus; computed while other work goes on
	start       sequential.Tables // vectors to go on from; may be none
	stats       corpus.Stats

	epochs       float64 // passes over what one epoch of the mode is
	matrixBytes  int64
	trainerBytes int64           // tables, moments and work
	momentBytes  int64           // moments of the optimizer
	garbageBytes int64           // that training may leave lying about
	encoder      subword.Encoder // of word vectors; nil: they are a table
	newTrainer   func() (Trainer, error)
	trainer      Trainer
	saver        *saver // of checkpoints, once training began

	opening     *opening // of the GPU to train on; nil: the CPU
	deviceBytes int64    // of its memory that training takes, about
	deviceFree  int64    // that was free before

	secondsRead, secondsMatrix float64
	closers                    []func() error
}

// prepare reads the text, prepares the mode and makes the trainer, without
// training anything. The job is to be closed also after an error.
func (j *job) prepare(ctx context.Context, p *terminal.Progress) error {
	for _, m := range modes() {
		if m.name == j.config.Mode {
			j.mode = m
		}
	}
	opening := j.openDevice(ctx)
	if err := j.readCorpus(opening, p); err != nil {
		return j.deviceFailed(opening, err)
	}
	if err := j.readStart(p); err != nil {
		return err
	}
	if j.from != nil {
		if err := j.from.checkText(j); err != nil {
			return err
		}
	}
	if err := j.checkText(); err != nil {
		return err
	}
	if err := j.mode.prepare(ctx, j, p); err != nil {
		return err
	}
	return j.makeTrainer()
}

// makeTrainer allocates what training takes, if there is room for it.
func (j *job) makeTrainer() error {
	if err := j.checkTraining(); err != nil {
		return err
	}
	var err error
	if j.trainer, err = j.newTrainer(); err != nil {
		return err
	}
	release := j.settleHeap()
	j.closers = append(j.closers, j.trainer.Close, release)
	return nil
}

// close releases what the job holds, last opened first.
func (j *job) close() {
	for _, closer := range slices.Backward(j.closers) {
		_ = closer() // what was to be kept is in files by now
	}
	j.closers = nil
}

func (j *job) readCorpus(ctx context.Context, p *terminal.Progress) error {
	if j.extras.Text != nil {
		if err := j.guardMemory(); err != nil {
			return err
		}
		j.useText(j.extras.Text)
		return nil
	}
	c, start := &j.config, time.Now()
	stage := p.Stage("reading text", 0)
	defer stage.Stop()
	options := corpus.Options{
		MinCount: c.MinCount, MaxSentence: c.MaxSentence, Lowercase: c.Lowercase, Threads: c.threads(),
		Progress: func(done, total int64) {
			stage.SetTotal(total)
			stage.Update(done, func() string { return terminal.Bytes(done) })
		},
	}
	if err := options.Tokenizer.UnmarshalText([]byte(c.Tokenizer)); err != nil {
		return terminal.Usagef("--tokenizer %s: %v", c.Tokenizer, err)
	}
	if err := j.guardMemory(); err != nil {
		return err
	}
	text, err := j.read(ctx, options)
	if errors.Is(err, corpus.ErrMinCount) {
		return fmt.Errorf("%w; lower --min-count, or use more text", err)
	}
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // what reading left behind is large; M can have it
	j.useText(text)
	j.secondsRead = time.Since(start).Seconds()
	stage.Done("Text: %s words, %s of them used (%s different, each at least %d times) in %s sentences, read in %s",
		terminal.Number(text.Stats.Tokens), terminal.Number(text.Stats.TokensUsed), terminal.Number(text.Vocabulary.Len()), c.MinCount,
		terminal.Number(text.Stats.Sentences), terminal.Duration(j.secondsRead))
	j.noteOddities(p)
	return nil
}

func (j *job) useText(text *corpus.Corpus) {
	j.corpus, j.vocabulary, j.stats = text, text.Vocabulary, text.Stats
	j.fingerprint = inBackground(text.Fingerprint)
}

// inBackground begins to compute something and returns a function that waits for
// the result.
func inBackground[T any](compute func() T) func() T {
	result := make(chan T, 1)
	go func() { result <- compute() }()
	return sync.OnceValue(func() T { return <-result })
}

// guardMemory finds out how much memory there is and whether reading the text
// can fit into it.
func (j *job) guardMemory() error {
	guard, release, err := newMemoryGuard(&j.config)
	if err != nil {
		return err
	}
	j.guard = guard
	j.closers = append(j.closers, release)
	if j.extras.Source != nil || j.extras.Text != nil {
		return nil
	}
	return guard.checkText(textBytes(j.config.Corpus))
}

// noteOddities tells what about the text the user may not expect.
func (j *job) noteOddities(p *terminal.Progress) {
	if n := j.stats.InvalidUTF8; n > 0 {
		p.Notef("Warning: the text has %s of invalid UTF-8, read as U+FFFD", terminal.Quantity(terminal.Number(n), "byte"))
	}
	if n := j.stats.LongTokens; n > 0 {
		p.Notef("Warning: left out %s longer than %s bytes", terminal.Quantity(terminal.Number(n), "word"), terminal.Number(corpus.MaxTokenBytes))
	}
	if n := j.stats.CutSentences; n > 0 {
		p.Notef("Note: cut %s of more than %s words into sentences of that length; nothing was dropped", terminal.Quantity(terminal.Number(n), "line"), terminal.Number(j.config.MaxSentence))
	}
}

// read opens the text. What goes wrong at the very start gets a message that
// says what --corpus should have been.
func (j *job) read(ctx context.Context, o corpus.Options) (*corpus.Corpus, error) {
	path := j.config.Corpus
	if j.extras.Source != nil {
		return corpus.ReadFrom(ctx, j.extras.Source, path, o)
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

// vocabularyBytes estimates the memory of words and counts.
func vocabularyBytes(v *corpus.Vocabulary) int64 {
	bytes := 24 * int64(v.Len()) // string and count
	for _, w := range v.Words {
		bytes += int64(len(w))
	}
	return bytes
}

// indexBytes estimates the memory of a map from words to rows.
func indexBytes(v *corpus.Vocabulary) int64 {
	const perWord = 2 * (16 + 8 + 1) // string, row and control byte at about half load
	return perWord * int64(v.Len())
}

// checkText refuses what only the text can show to be impossible.
func (j *job) checkText() error {
	c, words := &j.config, j.vocabulary.Len()
	if j.stats.TokensUsed == j.stats.Sentences {
		return fmt.Errorf("every sentence has one word, so no word has a context: a line is a sentence, but %s seems to have one word a line", c.Corpus)
	}
	if words > c.Negative {
		return nil
	}
	message := fmt.Sprintf("--negative %d needs a vocabulary of at least %d words, but the text has %d that occur at least %d times: lower --negative or --min-count, or use more text",
		c.Negative, c.Negative+1, words, c.MinCount)
	// Too many negatives asked for is a wrong flag; a text too small for the
	// recipe is bad input.
	if c.Negative != Defaults(c.Mode, c.Preset, c.Optimizer).Negative {
		return &terminal.UsageError{Message: message}
	}
	return errors.New(message)
}

// threads returns the number of threads to use.
func (c *Config) threads() int {
	if c.Threads > 0 {
		return c.Threads
	}
	return runtime.GOMAXPROCS(0)
}

func noiseError(err error) error {
	return fmt.Errorf("cannot draw negatives: %w (is --noise-exponent sensible?)", err)
}
