package train

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/parts"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/ranks"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// Follow takes part in the run of rank 0, which Run or Resume lead, until that ends. When
// ctx is cancelled the run stops.
func Follow(ctx context.Context, c settings.Config, o Options) error {
	j := &job{config: c, options: o, dry: true}
	defer j.close()
	if err := j.prepare(ctx, nil); err != nil {
		return err
	}
	return lead.Follow(ctx, j.trainer)
}

// processors are those of several ranks, each with a part of the text and a part of M. If an iteration reads all over the text, each has
// all of it.
type processors struct {
	processor
	group *ranks.Group
	text  *parts.Part       // nil once training does not need it any more
	part  *wordcontext.Part // of M
}

func (e *processors) read(ctx context.Context, p *progress.Progress) (*text, error) {
	if e.job.mode.Family == settings.Stretches {
		t, err := e.processor.read(ctx, p)
		return t, e.group.Agree(err)
	}
	own, seconds, err := readPart(ctx, e.group, &e.job.config, p)
	if err != nil {
		return nil, err
	}
	e.text = own
	whole := func() uint64 { return own.Fingerprint }
	t := &text{corpus: own.Corpus, stats: own.Stats, fingerprint: whole, seconds: seconds, close: own.Close}
	t.setVocabulary(own.Vocabulary)
	return t, nil
}

// prepare refuses settings first that ranks can only make M with.
func (e *processors) prepare(ctx context.Context, p *progress.Progress) error {
	if err := e.group.Agree(ranks.CheckTraining(&e.job.config)); err != nil {
		return err
	}
	if e.job.mode.Family == settings.Stretches {
		if err := e.group.SameText(e.job.config.Input(), e.job.text.fingerprint); err != nil {
			return err
		}
		return e.group.Agree(e.job.prepareMode(ctx, p))
	}
	return e.job.prepareMode(ctx, p)
}

func (e *processors) needCL(model graph.Options) error {
	if err := split.Check(e.group.Size(), model); err != nil {
		return err
	}
	words := e.job.text.vocabulary.Len()
	if err := e.plan(words, wordcontext.EstimateSlots(words, e.job.config.MatrixOptions()), model); err != nil { // M knows
		return err
	}
	_, whole := wordcontext.EstimateBytes(e.job.text.corpus, e.job.config.MatrixOptions())
	e.job.matrix = whole / int64(e.group.Size())
	defer func() { e.job.matrix = 0 }() // until it is there
	return e.job.checkTraining()
}

// plan asks for this rank's part of the model.
func (e *processors) plan(words, slots int, model graph.Options) error {
	return e.job.ask(func(a *trainer.Account) error {
		return split.Plan(a, words, slots, e.group.Size(), e.group.Rank(), model)
	})
}

func (e *processors) needCBOW(s *wordcontext.Stretches, model graph.Options) error {
	var err error
	alone := trainer.Dry(func(a *trainer.Account) { err = graph.PlanCBOW(a, s, model) })
	if err != nil {
		return err
	}
	e.group.NeedAlone(alone.Sum())
	return e.job.ask(func(a *trainer.Account) error {
		return graph.PlanRankCBOW(a, s, e.group.Size(), e.group.Rank(), model)
	})
}

func (e *processors) needSequential(model sequential.Options) error {
	t := e.job.text
	return e.job.ask(func(a *trainer.Account) error {
		return joint.Plan(a, t.vocabulary.Len(), int(t.stats.TokensUsed), model)
	})
}

func (e *processors) matrix(ctx context.Context, model graph.Options, p *progress.Progress) (*wordcontext.Matrix, error) {
	j := e.job
	m, seconds, err := buildPart(ctx, e.group, &j.config, e.text, p)
	if err != nil {
		return nil, err
	}
	j.matrix, j.secondsMatrix = m.Bytes(), seconds
	alone := trainer.Dry(func(a *trainer.Account) { err = graph.PlanCL(a, j.text.vocabulary.Len(), m.Rows(), model) })
	if err := e.group.Agree(err); err != nil {
		return nil, err
	}
	e.group.NeedAlone(alone.Sum() + m.Bytes()*int64(e.group.Size()))
	e.text, e.part = nil, m // everything training needs is in M
	return m.Matrix, e.plan(m.Rows(), int(m.Slots()[m.Rows()]), model)
}

func (e *processors) newCL(_ *wordcontext.Matrix, noise *corpus.Alias, iterations int, model graph.Options, p *progress.Progress) (trainer.Trainer, error) {
	t, err := split.New(e.group.Count(), e.part, noise, iterations, model)
	if err != nil {
		return nil, err
	}
	p.Notef("Ranks:   %d with %s each; one sends %s in an iteration", e.group.Size(), terminal.Quantity(terminal.Number(model.Threads), "thread"),
		terminal.Bytes(int64(2*split.Traffic(e.part.Rows(), e.group.Size(), model))))
	return e.group.NewTrainer(t), nil
}

func (e *processors) newCBOW(s *wordcontext.Stretches, iterations int, model graph.Options, p *progress.Progress) (trainer.Trainer, error) {
	t, err := graph.NewRankCBOW(e.group.Count(), s, iterations, model)
	if err != nil {
		return nil, err
	}
	rows, places := s.Occurring()
	p.Notef("Ranks:   %d with %s each; one sends about %s in an iteration", e.group.Size(), terminal.Quantity(terminal.Number(model.Threads), "thread"),
		terminal.Bytes(int64(graph.RankTraffic(rows, places, e.group.Size(), model.Dim, model.Composition != nil))))
	return e.group.NewTrainer(t), nil
}

func (e *processors) newSequential(noise *corpus.Alias, model sequential.Options, p *progress.Progress) (trainer.Trainer, error) {
	if err := e.text.Balance(e.group); err != nil {
		return nil, err
	}
	t, err := joint.New(e.group.Count(), e.text.Corpus, e.text.FirstToken, noise, model)
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
	p.Notef("Ranks:   %d with %s each; their tables are combined every %s words%s by rule %s, and they train at %.3g times the learning rate", e.group.Size(),
		terminal.Quantity(terminal.Number(model.Threads), "thread"), terminal.Number(o.Words), cmp.Or(hot, ","), o.Rule, joint.Factor(e.group.Size(), o))
	return e.group.NewTrainer(t), nil
}

// readPart reads this rank's part of the text.
func readPart(ctx context.Context, g *ranks.Group, c *settings.Config, p *progress.Progress) (*parts.Part, float64, error) {
	start := time.Now()
	options, err := c.TextOptions()
	if err := g.Agree(err); err != nil {
		return nil, 0, err
	}
	stage := p.Stage("reading text", 0)
	defer stage.Stop()
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, func() string { return terminal.Bytes(done) + " on rank 0" })
	}
	text, err := parts.Read(ctx, g, c.Corpus, options)
	if err != nil {
		return nil, 0, g.Known(explained(c, err))
	}
	seconds, s := time.Since(start).Seconds(), text.Stats
	stage.Done("Text: %s, read by %d ranks in %s", amount(text.Corpus, s, c.MinCount), g.Size(), terminal.Duration(seconds))
	noteOddities(s, c, p)
	return text, seconds, nil
}

// buildPart builds M from the parts of the text. Each rank keeps some of the rows.
func buildPart(ctx context.Context, g *ranks.Group, c *settings.Config, text *parts.Part, p *progress.Progress) (*wordcontext.Part, float64, error) {
	start := time.Now()
	stage, options := newMatrixMaker(c, text.Corpus, memory.Guard{}, 0).stage(p)
	defer stage.Stop()
	m, err := wordcontext.BuildOnRanks(ctx, text.Corpus, options,
		wordcontext.TextPart{Comm: g, FirstToken: text.FirstToken, Fingerprint: text.Fingerprint})
	if err != nil {
		return nil, 0, fmt.Errorf("cannot build the matrix M: %w", err)
	}
	if m.Total() == 0 {
		return nil, 0, g.Agree(errNoContext(c))
	}
	seconds := time.Since(start).Seconds()
	stage.Done("Matrix M: %s words, %s contexts on %d ranks, built in %s",
		terminal.Number(m.Rows()), terminal.Number(int64(m.Total())), g.Size(),
		terminal.Duration(seconds))
	return m, seconds, nil
}

// BuildMatrixOn is BuildMatrix on several ranks, all of which call it. An existing one is
// replaced if c.Force is set.
func BuildMatrixOn(ctx context.Context, g *ranks.Group, c settings.Config, p *progress.Progress) error {
	if g == nil {
		return BuildMatrix(ctx, c, p)
	}
	err := error(nil)
	if c.Matrix == "" {
		err = errNoMatrix
	} else if _, missing := os.Stat(c.Matrix); missing == nil && !c.Force && g.Rank() == 0 {
		err = fmt.Errorf("%s is there already: name another file, or replace it with --force", c.Matrix)
	}
	if err := g.Agree(err); err != nil {
		return err
	}
	if err := g.Begin(&c); err != nil {
		return err
	}
	text, _, err := readPart(ctx, g, &c, p)
	if err != nil {
		return err
	}
	c.FitText(text.Vocabulary)
	m, _, err := buildPart(ctx, g, &c, text, p)
	if err != nil {
		return err
	}
	return g.Agree(m.Save(c.Matrix))
}
