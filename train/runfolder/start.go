package runfolder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Start is what training goes on from.
type Start struct {
	trainer.Tables
	Encoder subword.Composer // with what W is composed of; nil: W is a table
	Offset  []float32        // that composed vectors have beside, (N); nil: none
	Counts  []uint64         // of words in its texts; nil: not known
	Trained float64          // words that it was trained on; 0: not known
}

// LoadStart reads the tables and the encoder of a run folder or of a fastText model, or the vectors of another file as W without C.
func LoadStart(ctx context.Context, path string) (s Start, err error) {
	r, err := find(path)
	if err != nil {
		return s, err
	}
	if r == nil {
		v, m, err := loadFile(ctx, path)
		if err != nil {
			return s, err
		}
		s.Vocabulary, s.Words, s.Encoder = v.Words, v.Vectors, v.Encoder
		if m != nil {
			s.Contexts = m.Contexts()
			for _, n := range m.Counts {
				s.Counts = append(s.Counts, uint64(n))
			}
		}
		return s, nil
	}
	if s.Tables, err = r.Tables(ctx); err != nil {
		return s, err
	}
	summary, _, err := r.Summary()
	if err != nil {
		return s, err
	}
	s.Trained = summary.WordsTrained
	vocabulary, err := r.Vocabulary(ctx)
	if err != nil {
		return s, err
	}
	s.Counts = vocabulary.Counts
	c, err := r.Config()
	if err != nil || !c.HasEncoder() {
		return s, err
	}
	if s.Encoder, err = subword.Load(r.Path(EncoderFile)); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no %s yet, which it gets when it stops", path, EncoderFile)
	}
	s.Offset, s.Mean = subword.Shift(s.Encoder)
	return s, err
}

// OpenMoments opens the checkpoint of a run whose moments training goes on with. Another model is an error: its gradients have
// another size.
func OpenMoments(path string, c *settings.Config) (*SavedState, error) {
	r, err := Open(path)
	if err != nil {
		return nil, fmt.Errorf("--init-moments: %w", err)
	}
	s, err := OpenCheckpoint(r.Path(CheckpointFile))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, terminal.Usagef("--init-moments: %s kept no moments, which needs --checkpoint keep in 'w2vcl train'", path)
	}
	now := c.Recorded()
	for _, name := range []string{"mode", "model", "subword", "optimizer"} {
		had, has := cmp.Or(s.Settings[name], settings.SubwordNone), cmp.Or(now[name], settings.SubwordNone) // is not always recorded
		if had != has {
			s.Close()
			return nil, terminal.Usagef("--init-moments: the moments of %s are of --%s %s, not %s; leave out --init-moments", path, name, had, has)
		}
	}
	return s, nil
}
