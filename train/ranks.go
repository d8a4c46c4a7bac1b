package train

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Follow takes part in the run of rank 0, which Run or Resume lead, until that ends. When
// ctx is cancelled the run stops.
func Follow(ctx context.Context, c settings.Config, o Options) error {
	j := &job{config: c, options: o} // not dry: it trains on M
	defer j.close()
	if err := j.prepare(ctx, nil); err != nil {
		return err
	}
	return cluster.Follow(ctx, j.trainer)
}

// processors are those of several ranks, each with a part of the text. They train sentence-ordered modes.
type processors struct {
	processor
	group *cluster.Group
	text  *joint.Part
}

// read reads this rank's part of the text.
func (e *processors) read(ctx context.Context, p *progress.Progress) (*text, error) {
	g, c := e.group, &e.job.config
	start := time.Now()
	options, err := c.TextOptions()
	if err := g.Agree(err); err != nil {
		return nil, err
	}
	stage := p.Stage("reading text", 0)
	defer stage.Stop()
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, func() string { return terminal.Bytes(done) + " on rank 0" })
	}
	own, err := joint.Read(ctx, g, c.Corpus, options)
	if err != nil {
		return nil, g.Known(explained(c, err))
	}
	seconds, s := time.Since(start).Seconds(), own.Stats
	stage.Done("Text: %s, read by %d ranks in %s", amount(own.Corpus, s, c.MinCount), g.Size(), terminal.Duration(seconds))
	noteOddities(s, c, p)
	e.text = own
	whole := func() uint64 { return own.Fingerprint }
	t := &text{corpus: own.Corpus, stats: s, fingerprint: whole, seconds: seconds, close: own.Close}
	t.setVocabulary(own.Vocabulary)
	return t, nil
}

func (e *processors) plan(b *blueprint) error {
	t := e.job.text
	return e.job.ask(func(a *trainer.Account) error {
		return joint.Plan(a, t.vocabulary.Len(), int(t.stats.TokensUsed), b.sequential)
	})
}

func (e *processors) make(b *blueprint, p *progress.Progress) (trainer.Trainer, error) {
	model := b.sequential
	if err := e.text.Balance(e.group); err != nil {
		return nil, err
	}
	t, err := joint.New(e.group, e.text.Corpus, e.text.FirstToken, b.noise, model)
	if err != nil {
		return nil, err
	}
	o := t.Options()
	hot := ""
	if o.Hot > 0 && o.HotWords < o.Words {
		hot = fmt.Sprintf(", those of the %s most frequent words every %s,",
			terminal.Number(o.Hot), terminal.Number(o.HotWords))
		if o.Doubles {
			hot = strings.TrimSuffix(hot, ",") + ", of twice as many every second time and so on,"
		}
	}
	p.Notef("Ranks:   %d, from %s, with %s each; their tables are combined every %s words%s by rule %s, and they train at %.3g times the learning rate",
		e.group.Size(), cmp.Or(e.group.From, "this process"), terminal.Quantity(terminal.Number(model.Threads), "thread"), terminal.Number(o.Words), cmp.Or(hot, ","), o.Rule, joint.Factor(e.group.Size(), o))
	return t, nil
}
