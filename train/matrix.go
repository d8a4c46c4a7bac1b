package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// BuildMatrix reads the text and writes M to c.Matrix, for `w2vcl matrix
// build`. A file that already holds the same M is left as it is; one that does
// not is replaced only if c.Force is set.
func BuildMatrix(ctx context.Context, c Config, p *terminal.Progress) error {
	if c.Matrix == "" {
		return terminal.Usagef("--matrix is missing: name the file to write M to")
	}
	c.Out, c.GraphDOT = "", ""
	if err := c.checkOutputs(); err != nil {
		return err
	}
	j := &job{config: c}
	defer j.close()
	if err := j.readCorpus(ctx, p); err != nil {
		return stopped(ctx, err)
	}
	m, err := j.openMatrix(ctx, p)
	if err != nil {
		return stopped(ctx, err)
	}
	return m.Close()
}

// openMatrix returns M: from the file it is kept in, if that fits, or built.
func (j *job) openMatrix(ctx context.Context, p *terminal.Progress) (*wordcontext.Matrix, error) {
	options := j.config.matrixOptions()
	start := time.Now()
	defer func() { j.secondsMatrix = time.Since(start).Seconds() }()
	if path := j.config.Matrix; path != "" {
		m, err := j.reuseMatrix(path, options)
		if err != nil {
			return nil, err
		}
		if m != nil {
			p.Notef("Matrix M: %s rows of %s contexts, from %s", terminal.Number(m.Rows()), terminal.Number(m.Contexts()), path)
			j.matrixBytes = matrixBytes(m)
			return m, nil
		}
	}
	m, err := j.buildMatrix(ctx, options, p)
	if err != nil {
		return nil, err
	}
	j.matrixBytes = matrixBytes(m)
	return m, nil
}

// reuseMatrix opens M's file if it was made of this text with these settings.
// A file that was not is an error, or nil with --force: it is to be replaced.
func (j *job) reuseMatrix(path string, options wordcontext.Options) (*wordcontext.Matrix, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m, err := wordcontext.Open(path)
	if err == nil {
		if err = m.Matches(j.corpus, options); err == nil {
			return m, nil
		}
		err = errors.Join(err, m.Close())
	}
	if j.config.Force {
		return nil, nil
	}
	return nil, fmt.Errorf("--matrix %s cannot be used: %w; name another file, or build it anew with --force", path, err)
}

func (j *job) buildMatrix(ctx context.Context, options wordcontext.Options, p *terminal.Progress) (*wordcontext.Matrix, error) {
	start := time.Now()
	stage := p.Stage("building M", 0)
	defer stage.Stop()
	if err := j.checkMatrix(options); err != nil {
		return nil, err
	}
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, nil)
	}
	m, err := wordcontext.Build(ctx, j.corpus, options)
	if err != nil {
		return nil, fmt.Errorf("cannot build the matrix M: %w", err)
	}
	saved := ""
	if path := j.config.Matrix; path != "" && !j.dry {
		if err := m.Save(path); err != nil {
			return nil, errors.Join(fmt.Errorf("--matrix %s: %w", path, err), m.Close())
		}
		saved = ", written to " + path
	}
	stage.Done("Matrix M: %s rows of %s contexts, built in %s%s", terminal.Number(m.Rows()), terminal.Number(m.Contexts()),
		terminal.Duration(time.Since(start).Seconds()), saved)
	return m, nil
}

// matrixBytes is the memory of a built or mapped matrix: the stored contexts,
// in 16 bits where ids fit, and three numbers a row.
func matrixBytes(m *wordcontext.Matrix) int64 {
	width := int64(4)
	if m.Rows() <= 1<<16 {
		width = 2
	}
	return int64(m.Stored())*width + 3*8*int64(m.Rows())
}

func (c *Config) matrixOptions() wordcontext.Options {
	return wordcontext.Options{
		Window: c.Window, Contexts: c.Contexts, Sample: c.Sample, Passes: c.Passes,
		DynamicWindow: c.DynamicWindow, Seed: c.Seed, Threads: c.threads(),
	}
}
