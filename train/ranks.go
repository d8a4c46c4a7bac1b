package train

import (
	"context"
	"fmt"
	"os"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train/ranks"
	"github.com/w2vcl/w2vcl/trainer"
)

// Follow takes part in the run of rank 0, which Run or Resume lead, until that ends. When
// ctx is cancelled the run stops.
func Follow(ctx context.Context, c settings.Config, o Options) error {
	j := &job{config: c, options: o, dry: true}
	defer j.close()
	if err := j.prepare(ctx, nil); err != nil {
		return err
	}
	if t, ok := j.trainer.(ranks.Follower); ok {
		return t.Follow(ctx)
	}
	return j.trainer.(ranks.GPUFollower).Follow(ctx)
}

// prepareRanks is prepareCL for ranks that train together.
func (j *job) prepareRanks(ctx context.Context, p *progress.Progress) error {
	c, g, words := &j.config, j.options.Ranks, j.text.vocabulary.Len()
	err := ranks.CheckTraining(c)
	var model graph.Config
	if err == nil {
		model, err = j.graphConfig(p)
	}
	if err == nil {
		j.estimate.trainer = split.Memory(words, g.Size(), model)
		err = split.Check(g.Size(), model)
	}
	if err == nil {
		err = j.checkTraining() // before M is built in vain
	}
	if err := g.Agree(err); err != nil {
		return err
	}
	m, seconds, err := g.BuildMatrix(ctx, c, j.text.share, p)
	if err != nil {
		return err
	}
	j.estimate.matrix, j.secondsMatrix, j.samples = m.Bytes(), seconds, m.Spread()
	noise, err := c.Negatives(m.Matrix, j.text.vocabulary)
	if err != nil {
		return err
	}
	iterations := c.TotalIterations()
	j.epochs = float64(iterations) / float64(c.Contexts)
	j.newTrainer = func() (trainer.Trainer, error) { return g.NewTrainer(m, noise, iterations, model, p) }
	j.text.corpus, j.text.share = nil, nil // everything training needs is in M
	return nil
}

// BuildMatrixOn is BuildMatrix on several ranks: rank 0 writes the file. One that is there is
// replaced if c.Force is set.
func BuildMatrixOn(ctx context.Context, g *ranks.Group, c settings.Config, p *progress.Progress) error {
	err := error(nil)
	if c.Matrix == "" {
		err = terminal.Usagef("--matrix is missing: name the file to write M to")
	} else if _, missing := os.Stat(c.Matrix); missing == nil && !c.Force && g.Rank() == 0 {
		err = fmt.Errorf("%s is there already: name another file, or replace it with --force", c.Matrix)
	}
	if err := g.Agree(err); err != nil {
		return err
	}
	if err := g.Begin(&c); err != nil {
		return err
	}
	text, _, err := g.ReadText(ctx, &c, p)
	if err != nil {
		return err
	}
	c.FitText(text.Vocabulary)
	m, _, err := g.BuildMatrix(ctx, &c, text, p)
	if err != nil {
		return err
	}
	return g.Agree(m.Save(c.Matrix))
}
