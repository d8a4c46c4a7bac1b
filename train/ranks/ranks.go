// Package ranks is the ranks of a run: they agree on version, settings and text, and refuse together what they cannot train with. Start
// at [Group]. [Read] reads a text of which each rank has a part.
package ranks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A Group is the ranks of a run. The nil Group is a single process.
type Group struct {
	cluster.Group
	Version string // of this program; all ranks must have the same

	place int // of this rank among those of its host
}

// New returns the ranks of a run of this version of the program.
func New(comm cluster.Comm, version string) *Group {
	return &Group{Group: cluster.Group{Comm: comm}, Version: version}
}

// Lead prepares rank 0 to lead a run: the context ends when any rank is told to stop.
func (g *Group) Lead(ctx context.Context) (context.Context, *Group) {
	if g == nil {
		return ctx, nil
	}
	return g.Group.Lead(ctx), g
}

// Agree is cluster.Group.Agree; for a single process it returns the error.
func (g *Group) Agree(err error) error {
	if g == nil {
		return err
	}
	return g.Group.Agree(err)
}

// Number is how many ranks there are; 0 for a single process.
func (g *Group) Number() int {
	if g == nil {
		return 0
	}
	return g.Size()
}

// SameVersion refuses ranks of another version. It comes before everything else, because another version may take what
// ranks tell each other for something else.
func (g *Group) SameVersion() error {
	return g.Known(cluster.Same(g, "the version of w2vcl", g.Version))
}

// Begin refuses what ranks cannot do together, and ranks that differ in settings or text.
func (g *Group) Begin(c *settings.Config) error {
	if g == nil {
		return nil
	}
	if err := g.Agree(g.check(c)); err != nil {
		return err
	}
	err := g.sameSettings(c.Recorded())
	if err == nil {
		bytes := corpus.Size(c.Input())
		text := terminal.Bytes(bytes) + fmt.Sprintf(" (%d bytes, checksum of their ends %s)", bytes, corpus.Hex(corpus.Probe(c.Input())))
		if strings.Contains(c.Corpus, OfRank) {
			text = "a text for each rank"
		}
		err = cluster.Same(g, "the text of "+c.Input(), text)
	}
	if err == nil {
		err = g.findPlace()
	}
	return g.Known(err)
}

// check refuses settings by their names.
func (g *Group) check(c *settings.Config) error {
	switch {
	case c.Device != settings.DeviceCPU:
		return g.checkGPUs(c)
	case c.FindMode().Family != settings.SentenceOrdered:
		what := "--mode " + c.Mode
		if c.Mode == settings.ModeCL {
			what += " on CPUs"
		}
		return refuse(what, "take a sentence-ordered mode, such as fullw2v, or --mode cl --preset paper on GPUs")
	case c.Cache != "":
		return refuse("--cache", "leave it out; each keeps its text in memory")
	case c.Vocabulary != "":
		return refuse("--vocab", "leave it out")
	case c.Graph != "": // each has a part of the text
		return refuse("--graph", "write the walks with 'w2vcl walk' and give --corpus")
	case c.Init != "":
		return refuse("--init", "leave it out")
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

// findPlace finds which of the ranks of its host this is.
func (g *Group) findPlace() error {
	own, _ := os.Hostname() // without one it is as the others without
	all, err := cluster.Collect(g, []byte(own))
	if err != nil {
		return err
	}
	g.place = 0
	for _, name := range all[:g.Rank()] {
		if string(name) == own {
			g.place++
		}
	}
	return nil
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

// Sharing returns how many ranks a run goes on with if it began with these: 0 if with any number.
func (g *Group) Sharing(c *settings.Config) int {
	mode := c.FindMode()
	if g == nil || g.Size() == 1 || mode.Family != settings.SentenceOrdered || c.Device != settings.DeviceCPU {
		return 0
	}
	return g.Size()
}
