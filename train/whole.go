package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext/cooccurrence"
)

// prepareWholeMatrix counts the pairs of the text. How many there are only counting can
// tell, so it asks for memory as it goes on.
func (j *job) prepareWholeMatrix(ctx context.Context, p *progress.Progress) error {
	c := &j.config
	if err := j.makeEncoder(); err != nil { // there is none, but n-grams may be fitted
		return err
	}
	j.planWholeMatrix(0)
	if err := j.guard.Check("training without the matrix M", j.lessMemory(), j.needs(j.account)...); err != nil {
		return err
	}
	m, err := j.count(ctx, p)
	if err != nil {
		return err
	}
	j.epochs = float64(max(c.Epochs, 1)) // ppmi has none
	j.live = trainer.NewAccount(j.check)
	if c.Mode == settings.ModeGloVe {
		o := c.GloVeOptions()
		o.Account = j.live
		j.newTrainer = func() (trainer.Trainer, error) { return cooccurrence.NewGloVe(m, o) }
	} else {
		if err := m.PPMI(ctx, c.PPMIOptions()); err != nil {
			return err
		}
		o := c.SVDOptions()
		o.Account = j.live
		j.newTrainer = func() (trainer.Trainer, error) { return cooccurrence.NewSVD(m, o) }
	}
	j.planWholeMatrix(m.Entries())
	j.matrix = m.Bytes()
	j.text.release() // everything training needs is in the matrix
	return nil
}

// planWholeMatrix counts the memory of the trainer of a matrix of so many entries.
func (j *job) planWholeMatrix(entries int64) {
	c, words := &j.config, j.text.vocabulary.Len()
	j.account = trainer.Dry(func(a *trainer.Account) {
		if c.Mode == settings.ModeGloVe {
			cooccurrence.PlanGloVe(a, words, entries, c.GloVeOptions())
		} else {
			cooccurrence.PlanSVD(a, words, entries, c.SVDOptions())
		}
	})
}

func (j *job) count(ctx context.Context, p *progress.Progress) (*cooccurrence.Matrix, error) {
	stage, start := p.Stage("counting pairs", 0), time.Now()
	defer stage.Stop()
	o := j.config.CountOptions()
	o.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, func() string { return terminal.Number(done) + " words" })
	}
	m, err := cooccurrence.Count(ctx, j.text.corpus, o)
	if errors.Is(err, memory.ErrRoom) {
		return nil, fmt.Errorf("the counts of all pairs do not fit: %w: %s", err, j.lessMemory())
	}
	if err != nil {
		return nil, err
	}
	j.secondsMatrix = time.Since(start).Seconds()
	stage.Done("Counts: %s pairs of %s words, in %s",
		terminal.Number(m.Entries()), terminal.Number(m.Rows()), terminal.Duration(j.secondsMatrix))
	return m, nil
}
