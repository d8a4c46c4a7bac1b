package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// BuildMatrix reads the text and writes M to c.Matrix, for `w2vcl matrix
// build`. A file that already holds the same M is left as it is; one that does
// not is replaced only if c.Force is set.
func BuildMatrix(ctx context.Context, c settings.Config, p *progress.Progress) error {
	if c.Matrix == "" {
		return terminal.Usagef("--matrix is missing: name the file to write M to")
	}
	guard, release, err := newMemoryGuard(&c)
	if err != nil {
		return err
	}
	defer release()
	t, err := readText(ctx, &c, Options{}, guard, p)
	if err != nil {
		return err
	}
	defer func() { _ = t.close() }() // it was only read
	c.FitText(t.vocabulary)
	m, _, err := matrixMaker{config: &c, corpus: t.corpus, guard: guard, save: true}.open(ctx, p)
	if err != nil {
		return err
	}
	return m.Close()
}

// A matrixMaker opens or builds the M of a text.
type matrixMaker struct {
	config *settings.Config
	corpus *corpus.Corpus
	guard  memoryGuard
	save   bool // a built M is written to config.Matrix
}

// open returns M, from its file if that fits, or built, and the seconds it took.
func (k matrixMaker) open(ctx context.Context, p *progress.Progress) (m *wordcontext.Matrix, seconds float64, err error) {
	start := time.Now()
	defer func() { seconds = time.Since(start).Seconds() }()
	if path := k.config.Matrix; path != "" {
		m, err = k.reuse(path)
		if err != nil {
			return nil, 0, err
		}
		if m != nil {
			p.Notef("Matrix M: %s, from %s", m, path)
			return m, 0, nil
		}
	}
	m, err = k.build(ctx, p)
	return m, 0, err
}

// reuse opens M's file if it was made of this text with these settings.
// Another file is an error; with --force the result is nil, and the file will be
// replaced.
func (k matrixMaker) reuse(path string) (*wordcontext.Matrix, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m, err := wordcontext.Open(path)
	if err == nil {
		if err = m.Matches(k.corpus, k.config.MatrixOptions()); err == nil {
			return m, nil
		}
		err = errors.Join(err, m.Close())
	}
	if k.config.Force {
		return nil, nil
	}
	return nil, fmt.Errorf("--matrix %s cannot be used: %w; name another file, or build it anew with --force", path, err)
}

func (k matrixMaker) build(ctx context.Context, p *progress.Progress) (*wordcontext.Matrix, error) {
	start := time.Now()
	stage := p.Stage("building M", 0)
	defer stage.Stop()
	options := k.config.MatrixOptions()
	if err := k.guard.checkMatrix(k.config, wordcontext.EstimateBytes(k.corpus, options)); err != nil {
		return nil, err
	}
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, nil)
	}
	m, err := wordcontext.Build(ctx, k.corpus, options)
	if err != nil {
		return nil, fmt.Errorf("cannot build the matrix M: %w", err)
	}
	if m.Stored() == 0 {
		err := fmt.Errorf("no context is left for M: --sample %g discards every word of the text; raise it, or keep all words with --sample 0", options.Sample)
		return nil, errors.Join(err, m.Close())
	}
	saved := ""
	if path := k.config.Matrix; path != "" && k.save {
		if err := m.Save(path); err != nil {
			return nil, errors.Join(fmt.Errorf("--matrix %s: %w", path, err), m.Close())
		}
		saved = ", written to " + path
	}
	stage.Done("Matrix M: %s, built in %s%s", m,
		terminal.Duration(time.Since(start).Seconds()), saved)
	return m, nil
}
