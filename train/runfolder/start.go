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
}

// LoadStart reads the tables and the encoder of a run folder or of a fastText model, or the vectors of another file as W without C.
func LoadStart(ctx context.Context, path string) (s Start, err error) {
	if fasttext.IsModel(path) {
		v, contexts, err := loadModel(path, true)
		if err != nil {
			return s, err
		}
		s.Vocabulary, s.Words, s.Contexts, s.Encoder = v.Words, v.Vectors, contexts, v.Encoder
		return s, nil
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		t, err := embedding.Load(ctx, path)
		if err != nil {
			return s, err
		}
		s.Vocabulary, s.Words = t.Words, t.Vectors
		return s, nil
	}
	r, err := Open(path)
	if err != nil {
		return s, err
	}
	if s.Tables, err = r.Tables(ctx); err != nil {
		return s, err
	}
	if s.Encoder, err = subword.Load(r.Path(EncoderFile)); err != nil {
		s.Encoder = nil
	}
	switch c, configErr := r.Config(); {
	case configErr != nil:
		return s, configErr
	case !c.HasEncoder() && errors.Is(err, fs.ErrNotExist):
		return s, nil
	case errors.Is(err, fs.ErrNotExist):
		return s, fmt.Errorf("%s has no %s yet, which it gets when it stops", path, EncoderFile)
	case err != nil:
		return s, err
	}
	if e, ok := s.Encoder.(interface{ Center() []float32 }); ok {
		s.Mean = e.Center()
	}
	return s, nil
}
