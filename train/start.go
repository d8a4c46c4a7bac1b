package train

import (
	"context"
	"fmt"
	"os"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/sequential"
)

// readStart reads the vectors that training goes on from. The vocabulary then
// has their words, too: those that the text lacks keep their vectors.
func (j *job) readStart(ctx context.Context, p *terminal.Progress) error {
	path := j.config.Init
	if path == "" {
		return nil
	}
	start, err := loadStart(ctx, path)
	if err != nil {
		return fmt.Errorf("--init %s: %w", path, err)
	}
	if n := len(start.Vocabulary); len(start.Words) != n*j.config.Dim {
		return terminal.Usagef("--init %s has vectors of %d dimensions, not of %d: add --dim %d", path, len(start.Words)/n, j.config.Dim, len(start.Words)/n)
	}
	own := j.text.vocabulary.Len()
	grown, err := sequential.Grow(j.text.corpus, start.Vocabulary)
	if err != nil {
		return fmt.Errorf("--init %s: %w", path, err)
	}
	j.text.corpus, j.text.vocabulary, j.start = grown, grown.Vocabulary, start
	known := own + len(start.Vocabulary) - j.text.vocabulary.Len()
	p.Notef("Start:   %s words of %s, %s of them in the text, which has %s more", terminal.Number(len(start.Vocabulary)), path, terminal.Number(known), terminal.Number(own-known))
	return nil
}

// loadStart reads word vectors from a file, or both tables from a run folder.
func loadStart(ctx context.Context, path string) (sequential.Tables, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		words, err := embedding.Load(ctx, path)
		if err != nil {
			return sequential.Tables{}, err
		}
		return sequential.Tables{Vocabulary: words.Words, Words: words.Vectors}, nil
	}
	run, err := runfolder.Open(path)
	if err != nil {
		return sequential.Tables{}, fmt.Errorf("there are no such vectors: %w", err)
	}
	t, err := run.Tables(ctx)
	return sequential.Tables(t), err
}
