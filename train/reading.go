package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/walk"
)

// readCorpus reads the text that the settings name. The caller closes it. seconds is what that took.
func readCorpus(ctx context.Context, c *settings.Config, o Options, limit int64, p *progress.Progress) (text *corpus.Corpus, seconds float64, err error) {
	start := time.Now()
	if _, missing := os.Stat(c.Cache); c.Cache != "" && errors.Is(missing, fs.ErrNotExist) {
		defer func() {
			if err != nil {
				_ = os.Remove(c.Cache) // it was made here, and stays if it holds something
			}
		}()
	}
	if c.Graph != "" {
		return readGraph(ctx, c, p)
	}
	options, storage, err := readingOptions(c, o, limit)
	if err != nil {
		return nil, 0, err
	}
	if o.Source == nil {
		announce(corpus.Size(c.Corpus), storage, p)
	}
	stage := p.Stage("reading text", 0)
	defer func() { stage.Stop() }()
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, func() string { return terminal.Bytes(done) })
	}
	writing := false
	storage.Writing = func(done, total int64) {
		if !writing {
			writing = true
			stage.Stop()
			stage = p.Stage("writing the encoded text", total)
		}
		stage.Update(done, nil)
	}
	if o.Source != nil {
		text, err = corpus.OpenFrom(ctx, o.Source, c.Corpus, options, storage)
	} else {
		text, err = corpus.Open(ctx, c.Corpus, options, storage)
	}
	if err != nil {
		return nil, 0, explained(c, err)
	}
	memory.Collect() // the garbage of reading is large; M can have it
	if c.Vocabulary != "" && options.Vocabulary == nil {
		if err := writeVocabulary(c.Vocabulary, text); err != nil {
			return nil, 0, errors.Join(err, text.Close())
		}
	}
	seconds = time.Since(start).Seconds()
	stage.Done("Text: %s", summary(text, c.MinCount, seconds))
	noteOddities(text.Stats, c, p)
	return text, seconds, nil
}

// readGraph reads the graph that the settings name. Walks over it are the text.
func readGraph(ctx context.Context, c *settings.Config, p *progress.Progress) (text *corpus.Corpus, seconds float64, err error) {
	start, stage := time.Now(), p.Stage("reading the graph", 0)
	defer stage.Stop()
	reading, walks := c.WalkOptions()
	g, notes, err := walk.Read(ctx, c.Graph, reading)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("--graph %s: %w", c.Graph, errNoText)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("--graph %w", err)
	}
	var collecting sync.WaitGroup
	collecting.Go(memory.Collect) // the garbage of reading is large
	unreached := 0
	walks.Unreached = func(nodes int) { unreached = nodes }
	text, err = g.Corpus(ctx, walks)
	if collecting.Wait(); err != nil {
		return nil, 0, fmt.Errorf("--graph %s: %w", c.Graph, err)
	}
	for _, note := range notes {
		p.Notef("Note: %s: %s", c.Graph, note)
	}
	if note := g.NoteDeadEnds(); note != "" {
		p.Notef("Note: %s", note)
	}
	if unreached > 0 {
		p.Warnf("no walk comes to %s, so that training leaves the vectors there as they began: more --walks come to more nodes",
			terminal.Quantity(terminal.Number(unreached), "node"))
	}
	seconds = time.Since(start).Seconds()
	stage.Done("Graph: %s nodes, %s edges, read in %s from %s; %s walks of up to %d nodes",
		terminal.Number(len(g.Names)), terminal.Number(g.Edges()), terminal.Duration(seconds), g.Layout, terminal.Number(text.Text().Sentences()), c.WalkLength)
	return text, seconds, nil
}

// readingOptions returns how the text is to be read, and where it is kept.
func readingOptions(c *settings.Config, o Options, limit int64) (options corpus.Options, storage corpus.Storage, err error) {
	options, err = c.TextOptions()
	if err == nil {
		err = checkExists(c.Corpus, o.Source)
	}
	if err == nil {
		options.Vocabulary, err = readVocabulary(c)
	}
	if err == nil {
		storage, err = store(c, options, o, limit)
	}
	return options, storage, err
}

// ofAtLeast says how often words occur, where that is not any number of times.
func ofAtLeast(words string, minCount int) string {
	if minCount == 1 {
		return ""
	}
	return fmt.Sprintf("%s at least %d times", words, minCount)
}

// writeVocabulary writes the file of --vocab.
func writeVocabulary(path string, text *corpus.Corpus) error {
	err := atomicfile.Write(path, func(w io.Writer) error { return text.Vocabulary.WriteWord2Vec(w, text.Stats.Lines) })
	if err != nil {
		return fmt.Errorf("--vocab: %w", err)
	}
	return nil
}

// summary says what was read in so many seconds.
func summary(text *corpus.Corpus, minCount int, seconds float64) string {
	s := text.Stats
	return fmt.Sprintf("%s, read in %s%s", amount(text, s, minCount), terminal.Duration(seconds), place(text))
}

// amount says how many words a text has, and sentences.
func amount(text *corpus.Corpus, s corpus.Stats, minCount int) string {
	return fmt.Sprintf("%s, %s of them used (%s different%s) in %s",
		terminal.Quantity(terminal.Number(s.Tokens), "word"), terminal.Number(s.TokensUsed), terminal.Number(text.Vocabulary.Len()), ofAtLeast(", each", minCount),
		terminal.Quantity(terminal.Number(s.Sentences), "sentence"))
}

// announce says what a large text takes of the disk. An English word has about six bytes of
// text, a little more than two while it is read, and two or three in the file: half with some reserve.
func announce(bytes int64, s corpus.Storage, p *progress.Progress) {
	if _, err := os.Stat(s.File); err == nil || bytes+bytes/2 <= s.Memory {
		return // the file may be there already
	}
	free := ""
	if n, known := machine.FreeSpace(filepath.Dir(s.File)); known {
		free = fmt.Sprintf(", which has %s free", terminal.Bytes(n))
	}
	p.Notef("Text of %s: larger than the memory for reading, %s; "+
		"it is read into a file of about %s (twice as much during reading) in %s%s",
		terminal.Bytes(bytes), terminal.Bytes(s.Memory), terminal.Bytes(bytes/2), filepath.Dir(s.File), free)
}

// place says where a text is that is not in memory.
func place(text *corpus.Corpus) string {
	path, bytes, _ := text.File()
	if path == "" {
		return ""
	}
	return fmt.Sprintf(", in a file of %s", terminal.Bytes(bytes))
}

// errNoText is the error of a text that is not there.
var errNoText = errors.New("there is no such file or folder")

// checkExists gives a path that cannot be opened a message about --corpus.
func checkExists(path string, source io.Reader) error {
	if source != nil || path == "-" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--corpus %s: %w%s", path, errNoText, terminal.NearestFile(path))
	} else if err != nil {
		return fmt.Errorf("--corpus: %w", err)
	}
	if runfolder.IsRun(path) {
		return fmt.Errorf("--corpus %s is a run folder, not a text: 'w2vcl resume %s' continues the run", path, path)
	}
	return nil
}

// explained adds advice to an error of reading.
func explained(c *settings.Config, err error) error {
	switch {
	case errors.Is(err, corpus.ErrMinCount) && c.Vocabulary == "":
		return fmt.Errorf("%w; lower --min-count, or use more text", err)
	case errors.Is(err, memory.ErrRoom):
		return fmt.Errorf("%w; raise --min-count (now %d), so that fewer words are kept, "+
			"take --lowercase or --tokenizer words, use less text "+
			"(without numbers and identifiers) or more memory", err, c.MinCount)
	default:
		return err
	}
}

// memoryOf is the memory of reading, of a limit that is known or 0. A large machine reads in memory what it has plenty of room for,
// because stretches of a text in a file are slower to read than a GPU trains.
func memoryOf(limit int64) int64 {
	const least = 32 << 20
	if limit == 0 {
		return corpus.DefaultMemory
	}
	return max(min(limit/4, corpus.DefaultMemory), limit/16, least)
}

// readingBytes is the memory of reading beside the text: buffers, tables, garbage and code, measured with small texts.
const readingBytes = 4 << 20

// textNeed estimates the peak of reading a text of so many bytes, as stored: measured, in memory
// 1.4 to 1.8 times the text. An English word is some six bytes of text, two of the
// encoded text and four of its token; the rest is garbage.
func textNeed(bytes, limit int64) int64 { return readingBytes + min(bytes+bytes/2, memoryOf(limit)) }

// store says where the text goes.
func store(c *settings.Config, options corpus.Options, o Options, limit int64) (corpus.Storage, error) {
	s := corpus.Storage{File: o.textFile, Memory: memoryOf(limit)}
	if c.Cache != "" {
		if err := os.MkdirAll(c.Cache, 0o755); err != nil {
			return s, fmt.Errorf("--cache: %w", err)
		}
		if o.Source == nil {
			file, ok, err := corpus.CacheFile(c.Cache, c.Corpus, options)
			if err != nil {
				return s, err
			}
			if s.File = file; ok {
				s.Always = true
				return s, nil
			}
		}
	}
	if s.File != "" {
		return s, nil
	}
	folder := c.Cache
	if folder == "" {
		folder = os.TempDir()
	}
	name := fmt.Sprintf("w2vcl-%d-%d%s", os.Getpid(), time.Now().UnixNano(), corpus.FileSuffix)
	s.File, s.Remove = filepath.Join(folder, name), true
	return s, nil
}

// readVocabulary reads the vocabulary of --vocab, if that is there.
func readVocabulary(c *settings.Config) (*corpus.Vocabulary, error) {
	if c.Vocabulary == "" {
		return nil, nil
	}
	f, err := os.Open(c.Vocabulary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--vocab: %w", err)
	}
	defer f.Close()
	v, err := corpus.ReadWord2VecVocabulary(f, c.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("--vocab %w", err)
	}
	if v = v.Frequent(uint64(c.MinCount), c.MaxVocabulary); v.Len() == 0 {
		return nil, fmt.Errorf("--vocab %s: no word occurs %d times; lower --min-count", c.Vocabulary, c.MinCount)
	}
	return v, nil
}

// noteOddities tells the user about surprises in the text.
func noteOddities(s corpus.Stats, c *settings.Config, p *progress.Progress) {
	if n := s.InvalidUTF8; n > 0 {
		p.Warnf("the text has %s of invalid UTF-8, read as U+FFFD: if the text has another encoding, convert it first (iconv)", terminal.Quantity(terminal.Number(n), "byte"))
	}
	if n := s.LongTokens; n > 0 {
		p.Warnf("left out %s longer than %s bytes",
			terminal.Quantity(terminal.Number(n), "word"), terminal.Number(corpus.MaxTokenBytes))
	}
	if n := s.CutSentences; n > 0 {
		p.Notef("Note: cut %s of more than %s words into sentences of that length; nothing was dropped",
			terminal.Quantity(terminal.Number(n), "line"), terminal.Number(c.MaxSentence))
	}
	if signs, advice := s.Raw(); signs != "" {
		p.Warnf("%s: this looks like raw text. Add %s, unless you want this", signs, advice)
	}
}
