// Package ranks is what a run on several ranks does otherwise than one of a single process:
// they agree on settings, read one text together, build M from their shares, and follow rank
// 0, which has the run folder. Start at [Group].
package ranks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/shares"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train/reading"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Group is the ranks of a run. The nil Group is a single process.
type Group struct {
	cluster.Comm
	Version string // of this program; all ranks must have the same

	// Ended says that all ranks know the end of the run, so that none waits for this one.
	Ended bool

	stop  context.CancelFunc // of the run
	place int                // of this rank among those of its host
}

// Lead prepares rank 0 to lead a run: the context ends when any rank is told to stop.
func (g *Group) Lead(ctx context.Context) (context.Context, *Group) {
	if g == nil {
		return ctx, nil
	}
	ctx, g.stop = context.WithCancel(ctx)
	return ctx, g
}

// Agree is cluster.Agree; for a single process it returns the error.
func (g *Group) Agree(err error) error {
	if g == nil {
		return err
	}
	if !isRankError(err) { // otherwise all know it
		err = cluster.Agree(g, err)
	}
	g.Ended = g.Ended || isRankError(err)
	return err
}

func isRankError(err error) bool { return errors.As(err, new(*cluster.RankError)) }

// Begin refuses what ranks cannot do together, and ranks that differ in version, settings or
// text.
func (g *Group) Begin(c *settings.Config) error {
	if g == nil {
		return nil
	}
	refused := check(c)
	if g.OnGPUs(c) {
		refused = g.checkGPUs(c)
	}
	if err := g.Agree(refused); err != nil {
		return err
	}
	err := cluster.Same(g, "the version of w2vcl", g.Version)
	if err == nil {
		err = g.sameSettings(c.Recorded())
	}
	if err == nil {
		text := terminal.Bytes(corpus.Size(c.Corpus)) + fmt.Sprintf(" (%d bytes)", corpus.Size(c.Corpus))
		if strings.Contains(c.Corpus, shares.OfRank) {
			text = "a text for each rank"
		}
		err = cluster.Same(g, "the text of --corpus "+c.Corpus, text)
	}
	if err == nil && g.OnGPUs(c) {
		err = g.findPlace()
	}
	g.Ended = isRankError(err)
	return err
}

// check refuses settings by their names.
func check(c *settings.Config) error {
	mode, _ := settings.FindMode(c.Mode)
	switch {
	case mode.Family != settings.LargeBatch:
		return refuse("--mode "+c.Mode, "take --mode "+settings.ModeCL)
	case c.Cache != "":
		return refuse("--cache", "leave it out; each keeps its share of the text in memory")
	case c.Vocabulary != "":
		return refuse("--vocab", "leave it out")
	}
	return nil
}

// CheckTraining refuses settings that M can be made with, but that ranks cannot train with.
func CheckTraining(c *settings.Config) error {
	switch {
	case c.Matrix != "":
		return refuse("--matrix", "leave it out; each keeps its part of M in memory")
	case c.SharedNegatives > 0:
		return refuse(fmt.Sprintf("--shared-negatives %d", c.SharedNegatives), "give --shared-negatives 0")
	case c.Init != "":
		return refuse("--init", "leave it out")
	case c.GraphDOT != "":
		return refuse("--graph-dot", "leave it out")
	}
	return nil
}

func refuse(what, instead string) error {
	return terminal.Usagef("several ranks cannot train with %s: %s, or use one rank", what, instead)
}

// sameSettings refuses a rank with other settings, by the name of the first.
func (g *Group) sameSettings(own map[string]string) error {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(own)) {
		lines = append(lines, name+" "+own[name])
	}
	all, err := cluster.Collect(g, []byte(strings.Join(lines, "\n")))
	if err != nil {
		return err
	}
	theirs := strings.Split(string(all[0]), "\n")
	for i := range max(len(lines), len(theirs)) {
		if i >= len(lines) || i >= len(theirs) || lines[i] != theirs[i] {
			err = terminal.Usagef("the settings differ from those of rank 0: --%s, not --%s", at(lines, i), at(theirs, i))
			break
		}
	}
	return cluster.Agree(g, err)
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(none)"
}

// Send gives the other ranks the settings of a run that goes on, which rank 0 has from its
// folder; or the error that it found there.
func (g *Group) Send(c *settings.Config, err error) error {
	if g == nil {
		return err
	}
	var text []byte
	if err == nil {
		text, err = c.TOML()
	}
	if err := g.Agree(err); err != nil {
		return err
	}
	_, err = cluster.Collect(g, text)
	return err
}

// Receive returns the settings that rank 0 sends.
func (g *Group) Receive() (c settings.Config, err error) {
	if err := g.Agree(nil); err != nil {
		return c, err
	}
	all, err := cluster.Collect[byte](g, nil)
	if err != nil {
		return c, err
	}
	f, err := os.CreateTemp("", "w2vcl-*.toml")
	if err != nil {
		return c, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(all[0])
	if err := errors.Join(err, f.Close()); err != nil {
		return c, err
	}
	return settings.Resolve(f.Name(), nil)
}

// ReadText reads this rank's share of the text.
func (g *Group) ReadText(ctx context.Context, c *settings.Config, p *progress.Progress) (*shares.Share, float64, error) {
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
	text, err := shares.Read(ctx, g, c.Corpus, options)
	if err != nil {
		if err = reading.Explained(c, err); errors.As(err, new(*cluster.RankError)) {
			g.Ended = true
		}
		return nil, 0, err
	}
	seconds, s := time.Since(start).Seconds(), text.Stats
	stage.Done("Text: %s words, %s of them used (%s different, each at least %d times) in %s sentences, read by %d ranks in %s",
		terminal.Number(s.Tokens), terminal.Number(s.TokensUsed), terminal.Number(text.Vocabulary.Len()), c.MinCount,
		terminal.Number(s.Sentences), g.Size(), terminal.Duration(seconds))
	reading.NoteOddities(s, c, p)
	return text, seconds, nil
}

// BuildMatrix builds M from the shares. Each rank keeps some of the rows.
func (g *Group) BuildMatrix(ctx context.Context, c *settings.Config, text *shares.Share, p *progress.Progress) (*wordcontext.Part, float64, error) {
	start, options := time.Now(), c.MatrixOptions()
	stage := p.Stage("building M", 0)
	defer stage.Stop()
	options.Progress = func(done, total int64) {
		stage.SetTotal(total)
		stage.Update(done, nil)
	}
	m, err := wordcontext.BuildShare(ctx, text.Corpus, options, wordcontext.Share{Comm: g, FirstToken: text.FirstToken, Fingerprint: text.Fingerprint})
	if err != nil {
		return nil, 0, fmt.Errorf("cannot build the matrix M: %w", err)
	}
	if m.Total() == 0 {
		return nil, 0, g.Agree(fmt.Errorf("no context is left for M: --sample %g discards every word of the text; raise it, or keep all words with --sample 0", c.Sample))
	}
	seconds := time.Since(start).Seconds()
	stage.Done("Matrix M: %s words, %s contexts on %d ranks, built in %s", terminal.Number(m.Rows()), terminal.Number(int64(m.Total())), g.Size(), terminal.Duration(seconds))
	return m, seconds, nil
}

// NewTrainer makes the trainer: on rank 0 one that the others follow.
func (g *Group) NewTrainer(m *wordcontext.Part, noise *corpus.Alias, iterations int, model graph.Config, p *progress.Progress) (trainer.Trainer, error) {
	t, err := split.New(g, m, noise, iterations, model)
	if err != nil {
		return nil, err
	}
	if g.Rank() > 0 {
		return Follower{CL: t}, nil
	}
	p.Notef("Ranks:   %d with %s each; one sends %s in an iteration", g.Size(), terminal.Quantity(terminal.Number(model.Threads), "thread"),
		terminal.Bytes(int64(2*split.Traffic(m.Rows(), g.Size(), model))))
	return &leader{split.Lead(t, g.stop), g}, nil
}

// A leader ends the run of all.
type leader struct {
	*split.Leader
	group *Group
}

func (l *leader) Close() error {
	err := l.Leader.Close()
	l.group.Ended = err == nil
	return err
}

// A Follower is the trainer of another rank than 0. It can only Follow.
type Follower struct {
	trainer.Trainer
	*split.CL
}

// Close does nothing.
func (Follower) Close() error { return nil }
