package train

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// readStart reads the vectors that training goes on from. In the sentence-ordered
// modes the vocabulary then has their words, too: those that the text lacks keep
// their vectors. In the others training is about the vocabulary of the text, as are
// M and the moments, so the rest of the vectors is left out.
func (j *job) readStart(ctx context.Context, p *progress.Progress) error {
	path := j.config.Init
	if path == "" {
		return nil
	}
	start, err := runfolder.LoadTables(ctx, path)
	if err != nil {
		return fmt.Errorf("--init: %w", err)
	}
	if n := len(start.Vocabulary); len(start.Words) != n*j.config.Dim {
		return terminal.Usagef("--init %s has vectors of %d dimensions, not of %d: add --dim %d",
			path, len(start.Words)/n, j.config.Dim, len(start.Words)/n)
	}
	own := j.text.vocabulary.Len()
	if j.mode.Family != settings.SentenceOrdered {
		j.start = start
		known := start.Known(j.text.vocabulary)
		p.Notef("Start:   %s of the %s words of the text are in %s, the others start anew; "+
			"%s of its words are not in the text and are left out",
			terminal.Number(known), terminal.Number(own), path, terminal.Number(len(start.Vocabulary)-known))
		return nil
	}
	grown, err := sequential.Grow(j.text.corpus, start.Vocabulary)
	if err != nil {
		return fmt.Errorf("--init %s: %w", path, err)
	}
	j.text.corpus, j.start = grown, start
	j.text.setVocabulary(grown.Vocabulary)
	known := own + len(start.Vocabulary) - j.text.vocabulary.Len()
	p.Notef("Start:   %s words of %s, %s of them in the text, which has %s more",
		terminal.Number(len(start.Vocabulary)), path, terminal.Number(known), terminal.Number(own-known))
	return nil
}
