package runfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/trainer"
)

// A Run is a run folder opened to read: a whole run, or one that is still going.
type Run struct {
	dir string // OUT, or OUT.partial
}

// Open finds the run of a folder: OUT itself, or OUT.partial while there is no
// OUT.
func Open(path string) (*Run, error) {
	for _, dir := range []string{path, filepath.Clean(path) + partialSuffix} {
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
	return nil, fmt.Errorf("%s: there is no such run folder or vectors file", path)
}

// Path returns the path of a file of the run.
func (r *Run) Path(name string) string { return filepath.Join(r.dir, name) }

// Config returns the settings of the run. They are not validated: this program
// may lack the device that the run was trained on.
func (r *Run) Config() (settings.Config, error) { return settings.Read(r.Path(ConfigFile)) }

// Metrics returns the lines of metrics until now.
func (r *Run) Metrics() ([]Metric, error) {
	metrics, err := readMetrics(r.Path(MetricsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no %s: name a run folder of w2vcl train", r.dir, MetricsFile)
	}
	return metrics, err
}

// Vectors returns the vectors to use; while the run is going, the vectors of its
// last checkpoint.
func (r *Run) Vectors() (*embedding.Table, error) {
	if exists(r.Path(VectorsFile)) {
		return embedding.Load(r.Path(VectorsFile))
	}
	t, err := r.saved()
	if err != nil {
		return nil, err
	}
	c, err := r.Config()
	if err != nil {
		return nil, err
	}
	return embedding.NewTable(t.Vocabulary, c.Dim, c.Exported(t.Words, t.Contexts))
}

// Encoder returns the encoder of words by their spelling; nil if the run has none.
func (r *Run) Encoder() (subword.Composer, error) {
	e, err := subword.Load(r.Path(EncoderFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return e, err
}

// Tables returns W and C; while the run is going, the tables of its last
// checkpoint.
func (r *Run) Tables() (trainer.Tables, error) {
	if !exists(r.Path(VectorsFile)) {
		return r.saved()
	}
	vectors, err := embedding.Load(r.Path(VectorsFile))
	if err != nil {
		return trainer.Tables{}, err
	}
	contexts, err := embedding.Load(r.Path(ContextFile))
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
	c.Words(vectors.Vectors, contexts.Vectors)
	return trainer.Tables{Vocabulary: vectors.Words, Words: vectors.Vectors, Contexts: contexts.Vectors}, nil
}

// saved returns the tables of the last checkpoint.
func (r *Run) saved() (trainer.Tables, error) {
	s, err := OpenCheckpoint(r.Path(CheckpointFile))
	if err != nil {
		return trainer.Tables{}, err
	}
	if s == nil {
		return trainer.Tables{}, r.noVectors()
	}
	defer s.Close()
	vocabulary, err := r.Vocabulary()
	if err != nil {
		return trainer.Tables{}, err
	}
	tables, err := s.tensors("words", "contexts")
	if err != nil {
		return trainer.Tables{}, err
	}
	return trainer.Tables{Vocabulary: vocabulary.Words, Words: tables[0], Contexts: tables[1]}, nil
}

// Vocabulary returns the words of the run with their counts.
func (r *Run) Vocabulary() (*corpus.Vocabulary, error) {
	f, err := os.Open(r.Path(VocabularyFile))
	if err != nil {
		return nil, fmt.Errorf("cannot read the vocabulary: %w", err)
	}
	defer f.Close()
	return corpus.ReadVocabularyTSV(f, f.Name())
}

// noVectors is the error of a folder with neither vectors nor a checkpoint.
func (r *Run) noVectors() error {
	if name, going := strings.CutSuffix(r.dir, partialSuffix); going {
		return fmt.Errorf("%s has no vectors yet: they come with the first checkpoint, see --checkpoint of 'w2vcl train'", name)
	}
	return fmt.Errorf("%s is a folder without %s: name a run folder of w2vcl train, or a vectors file", r.dir, VectorsFile)
}

// Vectors are word vectors with the encoder of a run or of a fastText model, if it
// has one: it composes the vectors of all other words.
type Vectors struct {
	*embedding.Table
	Encoder subword.Composer // may be nil
}

// LoadTable reads the vectors of a run folder, or of a file in any format that
// [embedding.Load] knows.
func LoadTable(path string) (*embedding.Table, error) {
	t, _, err := load(path)
	return t, err
}

// LoadTables reads the tables of a run folder, or the vectors of a file as W without
// C, to go on training from.
func LoadTables(path string) (trainer.Tables, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		t, err := embedding.Load(path)
		if err != nil {
			return trainer.Tables{}, err
		}
		return trainer.Tables{Vocabulary: t.Words, Words: t.Vectors}, nil
	}
	r, err := Open(path)
	if err != nil {
		return trainer.Tables{}, fmt.Errorf("there are no such vectors: %w", err)
	}
	return r.Tables()
}

// LoadVectors is LoadTable with the encoder of a run folder or of a fastText model.
// A model stays mapped into memory until the program ends.
func LoadVectors(path string) (*Vectors, error) {
	if fasttext.IsModel(path) {
		return loadModel(path)
	}
	t, r, err := load(path)
	if err != nil {
		return nil, err
	}
	v := &Vectors{Table: t}
	if r == nil {
		return v, nil
	}
	if v.Encoder, err = r.Encoder(); err != nil {
		return nil, err
	}
	if v.Encoder != nil && v.Encoder.Dim() != v.Dim {
		return nil, fmt.Errorf("%s: the vectors have %d dimensions, but %s gives %d", path, v.Dim, EncoderFile, v.Encoder.Dim())
	}
	return v, nil
}

func loadModel(path string) (*Vectors, error) {
	m, err := fasttext.Open(path)
	if err != nil {
		return nil, err
	}
	v := &Vectors{}
	if v.Table, err = embedding.Compose(m); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), m.Close())
	}
	if m.Shape().Longest == 0 { // it has words only
		return v, m.Close()
	}
	v.Encoder = m
	return v, nil
}

// load reads vectors and the run that has them; the run is nil for a file.
func load(path string) (*embedding.Table, *Run, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		t, err := embedding.Load(path)
		return t, nil, err
	}
	r, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	t, err := r.Vectors()
	return t, r, err
}
