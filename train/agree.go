package train

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/settings"
)

// This file is about what ranks must agree on before they train together: settings and text.

// agree refuses what ranks cannot do together, and ranks that differ in settings or text.
func agree(g *cluster.Group, c *settings.Config) error {
	if g == nil {
		return nil
	}
	if err := g.Agree(checkRanks(g.Size(), c)); err != nil {
		return err
	}
	if err := sameSettings(g, c.Recorded()); err != nil {
		return g.Known(err)
	}
	bytes := corpus.Size(c.Input())
	text := terminal.Bytes(bytes) + fmt.Sprintf(" (%d bytes, checksum of their ends %s)", bytes, corpus.Hex(corpus.Probe(c.Input())))
	if strings.Contains(c.Corpus, joint.OfRank) {
		text = "a text for each rank"
	}
	return g.Known(cluster.Same(g, "the text of "+c.Input(), text))
}

// checkRanks refuses settings that so many ranks cannot train with, by their names.
func checkRanks(ranks int, c *settings.Config) error {
	switch {
	case c.Device != settings.DeviceCPU:
		return checkGPURanks(ranks, c)
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
func sameSettings(g *cluster.Group, own map[string]string) error {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(own)) {
		lines = append(lines, name+" "+own[name])
	}
	lines = append(lines, "(none)") // where the shorter list ends, lines differ
	all, err := cluster.Collect(g, []byte(strings.Join(lines, "\n")))
	if err != nil {
		return err
	}
	theirs := strings.Split(string(all[0]), "\n")
	for i, line := range lines {
		if line != theirs[i] {
			err = terminal.Usagef("the settings differ from those of rank 0: --%s, not --%s", line, theirs[i])
			break
		}
	}
	return cluster.Agree(g, err)
}

// send gives the other ranks the settings of a run that goes on, which rank 0 has from its
// folder; or the error that it found there.
func send(g *cluster.Group, c *settings.Config, err error) error {
	if g == nil {
		return err
	}
	if err := g.Agree(err); err != nil {
		return err
	}
	recorded, err := json.Marshal(c.Recorded())
	if err == nil {
		_, err = cluster.Collect(g, recorded)
	}
	return err
}

// Receive returns the settings that rank 0 sends in [Resume].
func Receive(g *cluster.Group) (settings.Config, error) {
	if err := g.Agree(nil); err != nil {
		return settings.Config{}, err
	}
	all, err := cluster.Collect[byte](g, nil)
	if err != nil {
		return settings.Config{}, err
	}
	var recorded map[string]string
	if err := json.Unmarshal(all[0], &recorded); err != nil {
		return settings.Config{}, err
	}
	return settings.Resolve("", recorded)
}

// sharing returns how many ranks a run goes on with if it began with these: 0 if with any number.
func sharing(g *cluster.Group, c *settings.Config) int {
	mode := c.FindMode()
	if g == nil || g.Size() == 1 || mode.Family != settings.SentenceOrdered || c.Device != settings.DeviceCPU {
		return 0
	}
	return g.Size()
}
