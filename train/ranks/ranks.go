// Package ranks is what a run on several ranks does otherwise than one of a single process:
// they agree on settings, read one text together, build M from their shares, and follow rank
// 0, which has the run folder. Start at [Group]. [Predict] is a model of what several hosts
// would make of a run.
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
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/train/reading"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Group is the ranks of a run. The nil Group is a single process.
type Group struct {
	cluster.Comm
	Version string // of this program; all ranks must have the same

	// Ended says that all ranks know the end of the run, so that none waits for this one.
	Ended bool

	stop context.CancelFunc // of the run

	Host    string           // that this rank is on, for tests; "": what the system says
	place   int              // of this rank among those of its host
	counted *cluster.Counted // what the trainer has as its Comm
	pace    pace
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
		text := terminal.Bytes(corpus.Size(c.Corpus)) + fmt.Sprintf(" (%d bytes, checksum of their ends %s)", corpus.Size(c.Corpus), corpus.Hex(corpus.Probe(c.Corpus)))
		if strings.Contains(c.Corpus, shares.OfRank) {
			text = "a text for each rank"
		}
		err = cluster.Same(g, "the text of --corpus "+c.Corpus, text)
	}
	if err == nil {
		err = g.findHosts(c)
	}
	g.Ended = isRankError(err)
	return err
}

// check refuses settings by their names.
func check(c *settings.Config) error {
	mode, _ := settings.FindMode(c.Mode)
	switch {
	case mode.Family != settings.LargeBatch && mode.Family != settings.SentenceOrdered:
		return refuse("--mode "+c.Mode, "take --mode "+settings.ModeCL+" or one that goes through the text")
	case c.Cache != "":
		return refuse("--cache", "leave it out; each keeps its share of the text in memory")
	case c.Vocabulary != "":
		return refuse("--vocab", "leave it out")
	}
	return nil
}

// CheckTraining refuses settings that M can be made with, but that ranks cannot train with.
func CheckTraining(c *settings.Config) error {
	mode, _ := settings.FindMode(c.Mode)
	switch {
	case mode.Family == settings.LargeBatch && c.Subword != settings.SubwordNone:
		return refuse("--subword "+c.Subword, "leave it out")
	case c.Matrix != "":
		return refuse("--matrix", "leave it out; each keeps its part of M in memory")
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

// WriteMatrix builds M and writes its file, without training: rank 0 does that. One that is there is
// replaced if c.Force is set.
func (g *Group) WriteMatrix(ctx context.Context, c settings.Config, p *progress.Progress) error {
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
