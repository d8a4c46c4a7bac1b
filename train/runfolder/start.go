package runfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/embedding/fasttext"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Start is what training goes on from.
type Start struct {
	trainer.Tables
	Encoder subword.Composer // with what W is composed of; nil: W is a table
	Trained float64          // words that it was trained on; 0: not known
}

// LoadStart reads the tables and the encoder of a run folder or of a fastText model, or the vectors of another file as W without C.
func LoadStart(ctx context.Context, path string) (s Start, err error) {
	if fasttext.IsModel(path) {
		v, contexts, err := loadModel(path, true)
		if err == nil {
			s.Vocabulary, s.Words, s.Contexts, s.Encoder = v.Words, v.Vectors, contexts, v.Encoder
		}
		return s, err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		t, err := embedding.Load(ctx, path)
		if err == nil {
			s.Vocabulary, s.Words = t.Words, t.Vectors
		}
		return s, err
	}
	r, err := Open(path)
	if err != nil {
		return s, err
	}
	if s.Tables, err = r.Tables(ctx); err != nil {
		return s, err
	}
	summary, _, err := r.Summary()
	if err != nil {
		return s, err
	}
	s.Trained = summary.WordsTrained
	c, err := r.Config()
	if err != nil || !c.HasEncoder() {
		return s, err
	}
	if s.Encoder, err = subword.Load(r.Path(EncoderFile)); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no %s yet, which it gets when it stops", path, EncoderFile)
	}
	s.Mean = subword.Center(s.Encoder)
	return s, err
}
