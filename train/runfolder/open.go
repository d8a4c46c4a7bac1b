package runfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Run is a run folder opened to read: a whole run, or one that is still going.
type Run struct {
	dir string // OUT, or OUT.partial
}

// Open finds the run of a folder: OUT itself, or OUT.partial while there is no
// OUT.
func Open(path string) (*Run, error) {
	partial := filepath.Clean(path) + partialSuffix
	if resolved, err := atomicfile.Resolve(path); err == nil && !exists(partial) { // OUT is a link to a place that is not there yet
		partial = resolved + partialSuffix
	}
	for _, dir := range []string{path, partial} {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("cannot read the run: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("%s is a file, not a run folder", dir)
		}
		return &Run{dir}, nil
	}
	return nil, fmt.Errorf("%s: there is no such run folder or vectors file%s", path, terminal.NearestFile(path))
}

// Path returns the path of a file of the run.
func (r *Run) Path(name string) string { return filepath.Join(r.dir, name) }

// Going reports whether the run is in progress: it trains, or it was killed and waits for
// 'w2vcl resume'.
func (r *Run) Going() bool { return strings.HasSuffix(r.dir, partialSuffix) }

// Summary returns the summary of a run that ended; ok is false for one that did not.
func (r *Run) Summary() (s Summary, ok bool, err error) { return readSummary(r.dir) }

// Config returns the settings of the run. They are not validated: this program
// may lack the device that the run was trained on.
func (r *Run) Config() (settings.Config, error) {
	if err := checkAll(r.dir, ConfigFile); err != nil {
		return settings.Config{}, err
	}
	return settings.Read(r.Path(ConfigFile))
}

// Metrics returns the lines of metrics until now.
func (r *Run) Metrics() ([]Metric, error) {
	if err := checkAll(r.dir, MetricsFile); err != nil {
		return nil, err
	}
	metrics, err := readMetrics(r.Path(MetricsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no %s: name a run folder of w2vcl train", r.dir, MetricsFile)
	}
	return metrics, err
}

// Vectors returns the vectors to use; while the run is going, the vectors of its
// last checkpoint.
func (r *Run) Vectors(ctx context.Context) (*embedding.Table, error) {
	if exists(r.Path(VectorsFile)) {
		return r.table(ctx, VectorsFile)
	}
	t, c, err := r.saved(ctx)
	if err != nil {
		return nil, err
	}
	vectors, _ := c.Exported(t.Words, t.Contexts)
	return embedding.NewTable(t.Vocabulary, c.Dim, vectors)
}

// table reads a file of vectors, and meanwhile its checksum.
func (r *Run) table(ctx context.Context, name string) (*embedding.Table, error) {
	checked := make(chan error, 1)
	go func() { checked <- check(ctx, r.dir, name) }()
	t, err := embedding.Load(ctx, r.Path(name))
	if changed := <-checked; changed != nil {
		return nil, changed
	}
	return t, err
}

// Encoder returns what composes words that the text lacks: the fit if the run has one, or else its encoder; nil if it has neither.
func (r *Run) Encoder() (subword.Composer, error) {
	for _, name := range []string{FitFile, EncoderFile} {
		if e, err := subword.Load(r.Path(name)); !errors.Is(err, fs.ErrNotExist) {
			return e, err
		}
	}
	return nil, nil
}

// Tables returns W, with X·C added to it and around zero, and C; while the run is going, the tables of its last
// checkpoint.
func (r *Run) Tables(ctx context.Context) (trainer.Tables, error) {
	if !exists(r.Path(VectorsFile)) {
		t, _, err := r.saved(ctx)
		return t, err
	}
	vectors, err := r.table(ctx, VectorsFile)
	if err != nil {
		return trainer.Tables{}, err
	}
	contexts, err := r.table(ctx, ContextFile)
	if err != nil {
		return trainer.Tables{}, err
	}
	c, err := r.Config()
	if err != nil {
		return trainer.Tables{}, err
	}
	if len(vectors.Vectors) != len(contexts.Vectors) {
		return trainer.Tables{}, fmt.Errorf("%s has %d values and %s has %d", VectorsFile, len(vectors.Vectors), ContextFile, len(contexts.Vectors))
	}
	t := trainer.Tables{Vocabulary: vectors.Words, Words: vectors.Vectors, Contexts: contexts.Vectors, Weight: float32(c.ContextWeight)}
	if c.Positions() > 0 {
		positions, err := r.table(ctx, PositionsFile)
		if err != nil {
			return trainer.Tables{}, err
		}
		t.Positions = positions.Vectors
	}
	return t, nil
}

// saved returns the tables of the last checkpoint, and the settings.
func (r *Run) saved(ctx context.Context) (t trainer.Tables, c settings.Config, err error) {
	s, err := OpenCheckpoint(r.Path(CheckpointFile))
	if err != nil {
		return t, c, err
	}
	if s == nil {
		return t, c, r.noVectors()
	}
	defer s.Close()
	vocabulary, err := r.Vocabulary(ctx)
	if err != nil {
		return t, c, err
	}
	if c, err = r.Config(); err != nil {
		return t, c, err
	}
	words := "words" // of composed words, what is their own
	if c.HasEncoder() {
		words = ComposedWords
	}
	names := []string{words, "contexts"}
	if c.Positions() > 0 {
		names = append(names, graph.PositionsTensor)
	}
	tables, err := s.Tensors(ctx, names...)
	if err == nil {
		t = trainer.Tables{Vocabulary: vocabulary.Words, Words: tables[0], Contexts: tables[1]}
	}
	if err == nil && c.Positions() > 0 {
		t.Positions = tables[2]
	}
	return t, c, err
}

// Vocabulary returns the words of the run with their counts.
func (r *Run) Vocabulary(ctx context.Context) (*corpus.Vocabulary, error) {
	if err := check(ctx, r.dir, VocabularyFile); err != nil {
		return nil, err
	}
	f, err := os.Open(r.Path(VocabularyFile))
	if err != nil {
		return nil, fmt.Errorf("cannot read the vocabulary: %w", err)
	}
	defer f.Close()
	return corpus.ReadVocabularyTSV(memory.NewReader(ctx, f), f.Name())
}

// noVectors is the error of a folder with neither vectors nor a checkpoint.
func (r *Run) noVectors() error {
	if note := r.unfinished(); note != "" {
		return fmt.Errorf("%s; it has no vectors yet: they come with the first checkpoint, see --checkpoint of 'w2vcl train'", note)
	}
	return fmt.Errorf("%s is a folder without %s: name a run folder of w2vcl train, or a vectors file", r.dir, VectorsFile)
}

// Vectors are word vectors with the encoder of a run or of a fastText model, if it
// has one: it composes the vectors of all other words.
type Vectors struct {
	*embedding.Table
	Encoder subword.Composer // may be nil
	later   bool             // the encoder comes when the run is complete
}

// LoadTable reads the vectors of a run folder, or of a file in any format that
// [embedding.Load] knows.
func LoadTable(ctx context.Context, path string) (*embedding.Table, error) {
	r, err := find(path)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return embedding.Load(ctx, path)
	default:
		return r.Vectors(ctx)
	}
}

// LoadVectors is LoadTable with the encoder of a run folder or of a fastText model.
// A model stays mapped into memory until the program ends.
func LoadVectors(ctx context.Context, path string) (*Vectors, error) {
	r, err := find(path)
	if err != nil {
		return nil, err
	}
	if r == nil {
		v, _, err := loadFile(ctx, path)
		return v, err
	}
	t, err := r.Vectors(ctx)
	if err != nil {
		return nil, err
	}
	v := &Vectors{Table: t}
	if v.Encoder, err = r.Encoder(); err != nil {
		return nil, err
	}
	if v.Encoder != nil && v.Encoder.Dim() != v.Dim {
		return nil, fmt.Errorf("%s: the vectors have %d dimensions, but its encoder gives %d", path, v.Dim, v.Encoder.Dim())
	}
	if v.Encoder == nil && r.Going() {
		c, err := r.Config()
		v.later = err == nil && (c.HasEncoder() || c.FitsUnseen())
	}
	return v, nil
}

// A model is a fastText model, as an encoder.
type model struct{ *fasttext.Model }

// Source is that of n-grams.
func (model) Source() subword.Source { return subword.FromNGrams }

// NGramRow writes the vector of a bucket: all have one.
func (m model) NGramRow(bucket uint32, dst []float32) bool {
	m.NGram(bucket, dst)
	return true
}

// loadFile loads the vectors of a file. A fastText model is returned, too; it stays mapped into memory until the program ends.
func loadFile(ctx context.Context, path string) (*Vectors, *fasttext.Model, error) {
	if !fasttext.IsModel(path) {
		t, err := embedding.Load(ctx, path)
		return &Vectors{Table: t}, nil, err
	}
	m, err := fasttext.Open(path)
	if err != nil {
		return nil, nil, err
	}
	v := &Vectors{}
	if v.Table, err = embedding.Compose(m); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), m.Close())
	}
	if m.Shape().Longest > 0 { // otherwise it has words only
		v.Encoder = model{m}
	}
	return v, m, nil
}

// find opens a run to read; nil: there is a file at the path.
func find(path string) (*Run, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, nil
	}
	return Open(path)
}
