package train

import (
	"context"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
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
	if err := wordcontext.CheckSample(t.vocabulary, c.Sample); err != nil {
		return err
	}
	m, err := (&matrixMaker{config: &c, text: t.corpus, guard: guard.Guard, save: true}).open(ctx, p)
	if err != nil {
		return err
	}
	return m.Close()
}
