package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/settings"
)

// This file is about ranks that have a GPU each. They train what several GPUs of one process train, and each reads the
// whole text, as one process does.

// checkGPURanks refuses settings that so many ranks cannot train with on GPUs, by their names.
func checkGPURanks(ranks int, c *settings.Config) error {
	mode := c.FindMode()
	ordinals, err := device.Ordinals(c.Device)
	if err != nil {
		return err
	}
	switch {
	case mode.Family == settings.LargeBatch:
		if err := checkDimensions(c); err != nil {
			return err
		}
	case mode.Family == settings.Stretches:
		return refuse("--model "+c.Model+" on GPUs", "take --model sg")
	case mode.Family != settings.SentenceOrdered:
		return refuse("--mode "+c.Mode+" on GPUs", "take --mode "+settings.ModeCL+" or fullw2v")
	}
	switch {
	case len(ordinals) > 1:
		return refuse("--device "+c.Device, "take --device cuda: a rank has one GPU of its host")
	case !slices.Contains([]int{2, 4, 8}, ranks):
		return terminal.Usagef("there are %d ranks; on GPUs 2, 4 or 8 train together", ranks)
	case c.HasEncoder():
		return refuse("--subword "+c.Subword+" on GPUs", "leave it out")
	case strings.Contains(c.Corpus, joint.OfRank):
		return refuse("--corpus "+c.Corpus+" on GPUs", "give one path that all can read: each reads the whole text")
	case c.Cache != "":
		return refuse("--cache", "leave it out; each keeps the text in memory")
	case c.Vocabulary != "":
		return refuse("--vocab", "leave it out")
	}
	return nil
}

// checkDimensions refuses settings of mode cl that GPUs of several ranks cannot share the dimensions with.
func checkDimensions(c *settings.Config) error {
	d, _ := optim.Find(optim.Method(c.Optimizer))
	const instead = "; one process trains so on the GPUs of a host"
	switch {
	case c.SharedNegatives > 0:
		return refuse(fmt.Sprintf("--shared-negatives %d on GPUs", c.SharedNegatives), "give --shared-negatives 0"+instead)
	case c.Tempering > 0 || c.Positives != 1:
		return refuse(fmt.Sprintf("--tempering %g and --positives %g on GPUs", c.Tempering, c.Positives), "give --tempering 0 --positives 1"+instead)
	case c.Precision == settings.PrecisionHalf:
		return refuse("--precision half on GPUs", "take "+settings.PrecisionFloat32+instead)
	case d.WholeRows:
		return refuse("--optimizer "+c.Optimizer+" on GPUs", "take one of "+optim.OfColumns()+instead)
	case c.Matrix != "":
		return refuse("--matrix", "leave it out; each builds M")
	case c.Init != "":
		return refuse("--init", "leave it out")
	}
	return nil
}

// openDevice opens a device: the GPU of this rank if there are several, which is at this place on its host. The GPUs of a host
// go round among its ranks, for a launcher may show each rank only its own.
func openDevice(name string, g *cluster.Group, place int) (device.Device, error) {
	if g != nil && name == "cuda" {
		gpus, _, err := device.List()
		name = fmt.Sprintf("cuda:%d", place%max(len(gpus), 1))
		if err != nil {
			name = "cuda" // to open it tells
		}
	}
	d, err := device.Open(name)
	if err != nil || g == nil {
		return d, err
	}
	return device.OnRanks(d, g)
}
