package ranks

import (
	"cmp"
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/shares"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// NewTrainer makes the trainer of mode cl: on rank 0 one that the others follow.
func (g *Group) NewTrainer(m *wordcontext.Part, noise *corpus.Alias, iterations int, model graph.Config, p *progress.Progress) (trainer.Trainer, error) {
	t, err := split.New(g.count(), m, noise, iterations, model)
	if err != nil {
		return nil, err
	}
	if g.Rank() > 0 {
		return Follower{follow: t.Follow}, nil
	}
	p.Notef("Ranks:   %d with %s each; one sends %s in an iteration", g.Size(), terminal.Quantity(terminal.Number(model.Threads), "thread"),
		terminal.Bytes(int64(2*split.Traffic(m.Rows(), g.Size(), model))))
	return &splitLeader{split.Lead(t, g.stop), g}, nil
}

// NewSequential makes the trainer of a sentence-ordered mode on this rank's share of the text: on rank 0 one that the others follow.
func (g *Group) NewSequential(text *shares.Share, noise *corpus.Alias, c sequential.Config, p *progress.Progress) (trainer.Trainer, error) {
	if err := text.Balance(g); err != nil {
		return nil, err
	}
	t, err := joint.New(g.count(), text.Corpus, text.FirstToken, noise, c)
	if err != nil {
		return nil, err
	}
	if g.Rank() > 0 {
		return Follower{follow: t.Follow}, nil
	}
	o := t.Options()
	hot := ""
	if o.Hot > 0 && o.HotWords < o.Words {
		hot = fmt.Sprintf(", those of the %s most frequent words every %s,", terminal.Number(o.Hot), terminal.Number(o.HotWords))
	}
	p.Notef("Ranks:   %d with %s each; their tables are combined every %s words%s by rule %s, and they train at %.3g times the learning rate", g.Size(),
		terminal.Quantity(terminal.Number(c.Threads), "thread"), terminal.Number(o.Words), cmp.Or(hot, ","), o.Rule, joint.Factor(g.Size(), o.Rule))
	return &jointLeader{joint.Lead(t, g.stop), g}, nil
}

// Sharing returns how many ranks a run goes on with if it began with these: 0 if with any number.
func (g *Group) Sharing(c *settings.Config) int {
	mode, _ := settings.FindMode(c.Mode)
	if g == nil || g.Size() == 1 || mode.Family != settings.SentenceOrdered || c.Device != settings.DeviceCPU {
		return 0
	}
	return g.Size()
}

// count returns a Comm that counts what this rank sends.
func (g *Group) count() cluster.Comm {
	g.counted = &cluster.Counted{Comm: g.Comm}
	return g.counted
}

// Sent returns the number of ranks, and how many bytes this one has sent to others to train; zeros for a single process.
func (g *Group) Sent() (ranks int, bytes uint64) {
	if g == nil || g.counted == nil {
		return 0, 0
	}
	return g.Size(), g.counted.Sent
}

// NoteTraffic tells what this rank has sent in so many seconds of training.
func (g *Group) NoteTraffic(p *progress.Progress, seconds float64) {
	if ranks, bytes := g.Sent(); ranks > 0 {
		p.Notef("Traffic: rank 0 of %d sent %s in %s calls, %s/s", ranks, terminal.Bytes(int64(bytes)), terminal.Number(int64(g.counted.Calls)), terminal.Bytes(int64(float64(bytes)/seconds)))
	}
}

// finished takes the error of the end of the run, without which all ranks know of it.
func (g *Group) finished(err error) error {
	g.Ended = err == nil
	return err
}

// A splitLeader ends the run of all.
type splitLeader struct {
	*split.Leader
	group *Group
}

func (l *splitLeader) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	return l.group.timed(func() ([]trainer.Report, error) { return l.Leader.AdvanceSeries(ctx, first, rates) })
}

func (l *splitLeader) Close() error { return l.group.finished(l.Leader.Close()) }

// A jointLeader ends the run of all.
type jointLeader struct {
	*joint.Leader
	group *Group
}

func (l *jointLeader) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	return l.group.timed(func() ([]trainer.Report, error) { return l.Leader.AdvanceSeries(ctx, first, rates) })
}

func (l *jointLeader) Close() error { return l.group.finished(l.Leader.Close()) }

// A Follower is the trainer of another rank than 0. It can only Follow.
type Follower struct {
	trainer.Trainer
	follow func(ctx context.Context) error
}

// Follow does what rank 0 orders until training ends. When ctx ends the run stops.
func (f Follower) Follow(ctx context.Context) error { return f.follow(ctx) }

// Close does nothing.
func (Follower) Close() error { return nil }
