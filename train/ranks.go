package train

import (
	"context"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
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
	if err == nil && j.mode.Family == settings.SentenceOrdered {
		return j.prepareSequential(p)
	}
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
	g.NeedAlone(graph.MemoryCL(words, m.Rows(), model) + m.Bytes()*int64(g.Size()))
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
